/**
 * SQL condition: the `checkpoint` aliased `c` belongs to a snapshot or is the stored result of a set-up, so it is kept whatever happens to its
 * session. The deletion of an organization ends that.
 */
export const isKept = `(
  exists (select 1 from snapshot n join organization no on no.id = n.organization_id and no.deleted_at is null where n.checkpoint_id = c.id)
  or exists (select 1 from environment_build b join organization bo on bo.id = b.organization_id and bo.deleted_at is null
              where b.checkpoint_id = c.id))`;
