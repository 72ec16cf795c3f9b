/**
 * SQL condition: the `checkpoint` aliased `c` belongs to a snapshot, so it is kept whatever happens to its session. The deletion of an
 * organization ends that.
 */
export const isOfSnapshot = `exists (
  select 1 from snapshot n join organization no on no.id = n.organization_id and no.deleted_at is null where n.checkpoint_id = c.id)`;
