import { findOwnerViewer } from '../../auth/owner-viewer.ts';
import { permissionFor } from '../../auth/permissions.ts';
import { DomainError } from '../../common/errors.ts';
import { type Field, type Row, selectFields } from '../../store/tables.ts';
import type { Context } from '../context.ts';
import { canonicalJson } from '../idempotency.ts';
import type { ParentRun } from './admit-child.ts';
import { requireChildAgent } from './child-agent.ts';
import { createSession } from './create-session.ts';
import type { SessionRecord } from './session.ts';

/** The input with which the agent of a session starts another session. */
export interface ChildInput {
  readonly prompt: string;
  readonly title?: string | undefined;
  readonly playbookId?: string | undefined;
  readonly agent?: string | undefined;
  readonly maxAcuLimit?: number | undefined;
  /** Omitted: those that the prompt names, or else the parent's. */
  readonly repositories?: readonly { readonly repository: string }[] | undefined;
}

const parentFields = [
  'organizationId',
  'userId',
  'serviceUserId',
  'agent',
  'isUnlisted',
] as const satisfies readonly Field<'Session'>[];

interface ParentRow extends Pick<Row<'Session'>, (typeof parentFields)[number]> {
  /** The number of a turn, which stays when the turn resumes after an interruption. */
  readonly turn: number;
  /** The ids that still exist; null: all. */
  readonly secretIds: string[] | null;
  readonly knowledgeIds: string[] | null;
}

const parentOf = `
  select r.turn_after_seq as turn, ${selectFields('Session', 's', parentFields)},
         case when s.secret_ids is not null then (select coalesce(json_agg(x.id order by x.id), '[]'::json) from secret x
           where x.organization_id = s.organization_id and s.secret_ids ? x.id) end as "secretIds",
         case when s.knowledge_ids is not null then (select coalesce(json_agg(n.id order by n.id), '[]'::json) from knowledge_note n
           where (n.organization_id = s.organization_id or n.organization_id is null) and s.knowledge_ids ? n.id) end as "knowledgeIds"
    from session s join run r on r.session_id = s.id where s.id = $1`;

/**
 * Starts a session for the agent of another session: in the same organization, in the name and with the current
 * permissions of the parent's owner, with no secrets and no knowledge that the parent lacks, and with no weaker
 * sandbox. `earlier`: the number of calls with the same input earlier in this turn. If an interrupted turn repeats a
 * call whose response was lost, it gets the existing session. Throws the errors of {@link createSession}, {@link
 * admitChild} and {@link requireChildAgent}; FORBIDDEN if the owner is gone.
 */
export async function startChild(
  context: Context,
  parent: ParentRun,
  input: ChildInput,
  earlier: number,
): Promise<SessionRecord> {
  const [row] = await context.store.query<ParentRow>(parentOf, [parent.sessionId]);
  if (!row) throw new Error(`Session ${parent.sessionId} has no row.`);
  const viewer = await findOwnerViewer(context, row, [permissionFor.createSession]);
  if (!viewer)
    throw new DomainError(
      'FORBIDDEN',
      'The user or service user that started this session was deleted or deactivated.',
    );
  const { isUnlisted, secretIds, knowledgeIds } = row;
  // Read as the parent's own run reads it: an old session may have no agent.
  const own = row.agent ?? context.defaultAgent;
  const agent = input.agent ?? own;
  requireChildAgent(context, own, agent);
  // Not a copy: a context may inherit its services from its prototype.
  const asOwner: Context = Object.create(context, {
    viewer: { value: viewer, enumerable: true },
    address: { value: null, enumerable: true },
  });
  const { repositories, ...rest } = input;
  const named = repositories === undefined ? {} : { repositories: [...repositories] };
  const made = { ...rest, ...named, agent, isUnlisted, secretIds, knowledgeIds };
  const call = canonicalJson([parent.sessionId, row.turn, earlier, made]);
  const idempotencyKey = context.keyring.hashToken(`child:${call}`);
  const { session } = await createSession(asOwner, made, {
    organizationId: row.organizationId,
    origin: 'other',
    parent,
    idempotencyKey,
  });
  return session;
}
