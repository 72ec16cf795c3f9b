import { refuse } from '../../common/errors.ts';
import type { Transaction } from '../../store/store.ts';
import type { OrganizationRecord } from '../identity/organizations/use-organization.ts';
import { lockSession } from './change-session.ts';

/** A running session whose agent starts another session. */
export interface ParentRun {
  readonly sessionId: string;
  readonly generation: number;
}

/** Maximum number of sessions that the agent of one session may start. */
const maxChildren = 10;
/** Maximum number of generations above a session that starts a child: a child's child may start one more. */
const maxAncestors = 3;

/** Maximum number of sessions and forks above a session that are read. */
const maxSteps = 20;

// A user's fork of a session is in the same generation, and none of the session's children.
const familyOf = `
  with recursive up as (
    select s.parent_id as "parentId", case when s.forked_from_id is null then 1 else 0 end as n, 1 as step from session s where s.id = $1
    union all
    select s.parent_id, up.n + case when s.forked_from_id is null then 1 else 0 end, up.step + 1
      from session s join up on s.id = up."parentId" where up.n <= ${maxAncestors} and up.step < ${maxSteps})
  select (select max(up.n) from up)::int as generations,
         (select count(*) from session c where c.parent_id = $1 and c.forked_from_id is null)::int as children,
         (select coalesce(sum(c.max_acu_limit), 0) from session c where c.parent_id = $1 and c.forked_from_id is null)::float8 as promised`;

/**
 * Checks that the agent of a session may start one more session, and returns the child's ACU limit: at most the unused
 * ACUs of the parent's own limit (or of the organization's limit for a session, if that is lower), without those
 * reserved for earlier children. Locks the parent. Throws LIMIT_EXCEEDED, and FencedError if the parent's run is lost.
 */
export async function admitChild(
  tx: Transaction,
  parent: ParentRun,
  { maxSessionAcuLimit }: Pick<OrganizationRecord, 'maxSessionAcuLimit'>,
  requested: number | null,
): Promise<number | null> {
  const session = await lockSession(tx, parent.sessionId, parent.generation);
  const [family] = await tx.query<{ generations: number; children: number; promised: number }>(familyOf, [session.id]);
  const { generations, children, promised } = family ?? { generations: 1, children: 0, promised: 0 };
  if (generations > maxAncestors) {
    const message = `A session may have at most ${maxAncestors} generations above it, so this one can start none.`;
    throw refuse(['parent'], message, 'LIMIT_EXCEEDED');
  }
  if (children >= maxChildren) {
    throw refuse(['parent'], `A session may start at most ${maxChildren} others.`, 'LIMIT_EXCEEDED');
  }
  const limit = Math.min(session.maxAcuLimit ?? Infinity, maxSessionAcuLimit ?? Infinity);
  if (limit === Infinity) return requested;
  const left = Math.floor(limit - session.acusConsumed - promised);
  if (left < 1) throw refuse(['maxAcuLimit'], 'The session has used its ACU limit.', 'LIMIT_EXCEEDED');
  if (requested !== null && requested > left) {
    const message = `"maxAcuLimit" must be at most ${left}, which is what is left of the session’s ACU limit, but was ${requested}.`;
    throw refuse(['maxAcuLimit'], message, 'LIMIT_EXCEEDED');
  }
  return requested ?? left;
}
