import { permissionFor } from '../../auth/permissions.ts';
import { organizationsWith } from '../../auth/viewer.ts';
import { shorten } from '../../common/plain-text.ts';
import type { Context } from '../context.ts';
import { inOrderOf } from '../find-by-ids.ts';
import { type FollowUp, followUpColumns } from './follow-up.ts';

/** Maximum number of follow-ups of a pull request that are listed: the newest. */
const maxListed = 50;

/** A pull request of a session: its unprefixed id and the address. */
export interface PullRequestKey {
  readonly sessionId: string;
  readonly url: string;
}

const ofViewer = `s.id = f.session_id and o.id = s.organization_id and o.enterprise_id = $2 and o.deleted_at is null
  and ($3::boolean or o.id = any($4::text[]))`;

/**
 * Returns the newest follow-ups of these pull requests, newest first, in the order of the keys. Empty for a session that the viewer may
 * not view.
 */
export async function listFollowUps(
  { store, viewer }: Context,
  keys: readonly PullRequestKey[],
): Promise<(readonly FollowUp[])[]> {
  const { enterpriseId, all, ids } = organizationsWith(viewer, permissionFor.viewSession);
  const rows = await store.query<FollowUp & { readonly position: number }>(
    `select k.position, ${followUpColumns}
       from jsonb_to_recordset($1::jsonb) k(position int, "sessionId" text, url text)
       cross join lateral (
         select * from follow_up x where x.session_id = k."sessionId" and x.url = k.url
          order by x.created_at desc, x.id desc limit $5) f
       join session s on s.id = f.session_id join organization o on ${ofViewer}
      order by k.position, f.created_at desc, f.id desc`,
    [
      JSON.stringify(keys.map(({ sessionId, url }, position) => ({ position, sessionId, url }))),
      ...[enterpriseId, all, ids, maxListed],
    ],
  );
  const found = keys.map((): FollowUp[] => []);
  for (const { position, ...row } of rows) found[position]?.push(row);
  return found;
}

/** Maximum length of a {@link FollowUpPreview}, in characters. */
const maxPreview = 10_000;

/** The beginning of the message of a follow-up. */
export interface FollowUpPreview {
  readonly id: string;
  readonly preview: string;
}

/**
 * Returns the beginnings of the messages that sessions get, or got, with the follow-ups of these unprefixed ids, in their order; null
 * for a follow-up whose session the viewer may not view.
 */
export async function findFollowUpPreviews(
  { store, viewer }: Context,
  followUpIds: readonly string[],
): Promise<(FollowUpPreview | null)[]> {
  const { enterpriseId, all, ids } = organizationsWith(viewer, permissionFor.viewSession);
  const rows = await store.query<FollowUpPreview>(
    `select f.id, left(f.body, $5) as preview
       from follow_up f join session s on s.id = f.session_id join organization o on ${ofViewer}
      where f.id = any($1::text[])`,
    [followUpIds, enterpriseId, all, ids, maxPreview + 1],
  );
  return inOrderOf(
    followUpIds,
    rows.map(({ id, preview }) => ({ id, preview: shorten(preview, maxPreview) })),
  );
}

/** Returns the follow-ups of these unprefixed ids whose sessions the viewer may view, in the ids' order; null for each other id. */
export async function findFollowUps(
  { store, viewer }: Context,
  followUpIds: readonly string[],
): Promise<(FollowUp | null)[]> {
  const { enterpriseId, all, ids } = organizationsWith(viewer, permissionFor.viewSession);
  const rows = await store.query<FollowUp>(
    `select ${followUpColumns} from follow_up f join session s on s.id = f.session_id join organization o on ${ofViewer}
      where f.id = any($1::text[])`,
    [followUpIds, enterpriseId, all, ids],
  );
  return inOrderOf(followUpIds, rows);
}
