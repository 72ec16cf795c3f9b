import type { Context } from '../context.ts';
import type { SessionRecord } from './session.ts';

/** Maximum number of children that are read of one session. */
const maxChildren = 200;

/** SQL expression on a `session` aliased `s` with the result of {@link findChildren}. */
export const childIds = `array(
  select c.id from session c where c.parent_id = s.id and c.organization_id = s.organization_id
   order by c.created_at desc, c.id desc limit ${maxChildren})`;

/** {@link childIds} as a column. */
export const childIdsColumn = `${childIds} as "childIds"`;

/** A session, and the unprefixed ids of its child sessions, newest first, at most 200. */
export interface SessionWithChildren extends SessionRecord {
  readonly childIds: readonly string[];
}

const newest = `
  select wanted.id as "parentId", c.id from unnest($1::text[], $2::text[]) as wanted(id, organization_id)
   cross join lateral (select s.id, s.created_at from session s
     where s.parent_id = wanted.id and s.organization_id = wanted.organization_id
     order by s.created_at desc, s.id desc limit ${maxChildren}) c
   order by c.created_at desc, c.id desc`;

/**
 * Returns the unprefixed ids of the sessions that each of these started, by the parent's id, newest first, at most 200
 * for each parent.
 */
export async function findChildren(
  context: Context,
  sessions: readonly Pick<SessionRecord, 'id' | 'organizationId'>[],
): Promise<Map<string, string[]>> {
  const children = new Map<string, string[]>();
  if (sessions.length === 0) return children;
  const rows = await context.store.query<{ parentId: string; id: string }>(newest, [
    sessions.map(({ id }) => id),
    sessions.map(({ organizationId }) => organizationId),
  ]);
  for (const { parentId, id } of rows) {
    const siblings = children.get(parentId);
    if (siblings) siblings.push(id);
    else children.set(parentId, [id]);
  }
  return children;
}
