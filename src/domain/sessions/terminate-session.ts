import { permissionFor } from '../../auth/permissions.ts';
import type { Transaction } from '../../store/store.ts';
import { type Row, selectFields } from '../../store/tables.ts';
import { audit } from '../audit/record-audit.ts';
import type { Context } from '../context.ts';
import { auditArchive } from './archive-session.ts';
import { changeSession, lockSession, type StatusChange } from './change-session.ts';
import { getSessionFor } from './find-session.ts';
import type { NewEntry } from './log.ts';
import { openToolCalls } from './open-tool-calls.ts';
import type { SessionRecord } from './session.ts';

/** The session before and after a termination; `wasOver`: it had been terminated or had expired before. */
export interface Termination {
  readonly session: SessionRecord;
  readonly before: SessionRecord;
  readonly wasOver: boolean;
}

/**
 * Ends a session permanently; with `archive` it is archived too. The generation is incremented, so that nothing more
 * from its agent is accepted, and the worker stops the agent. A session that is over already is only archived. A
 * session in `error` keeps its status (docs/wire/status.md#transitions), but accepts no more messages. Throws
 * NOT_FOUND, FORBIDDEN.
 */
export async function terminateSession(
  context: Context,
  input: { sessionId: string; organizationId?: string | undefined; archive?: boolean | undefined },
): Promise<Termination> {
  const seen = await getSessionFor(context, permissionFor.terminateSession, input);
  return terminateSeen(context, seen, input.archive === true);
}

/** {@link terminateSession} for the domain's own use, without a permission check. */
export function terminateSeen(
  context: Context,
  seen: Pick<SessionRecord, 'id' | 'organizationId'>,
  isToArchive: boolean,
): Promise<Termination> {
  return context.store.transact((tx) => terminateInside(context, tx, seen, isToArchive));
}

/** {@link terminateSession} within a transaction, for the domain's own use, without a permission check. */
export async function terminateInside(
  context: Context,
  tx: Transaction,
  seen: Pick<SessionRecord, 'id' | 'organizationId'>,
  isToArchive: boolean,
): Promise<Termination> {
  const done = await endForGood(context, tx, seen, isToArchive ? { isArchived: true } : {}, 'terminated');
  const { id, organizationId } = seen;
  if (!done.wasOver) await audit(context, tx, 'terminate_session', { organizationId, sessionId: id, targetId: id });
  await auditArchive(context, tx, done.before, done.session);
  return done;
}

/** The common part of {@link terminateInside} and an expiry; `entries` state the reason. Writes no audit entry. */
export async function endForGood(
  context: Context,
  tx: Transaction,
  seen: Pick<SessionRecord, 'id'>,
  archive: Pick<StatusChange, 'isArchived'>,
  endedBy: 'terminated' | 'expired',
  entries: readonly NewEntry[] = [],
): Promise<Termination> {
  const [run] = await tx.query<Pick<Row<'Run'>, 'generation' | 'isTurnOpen'>>(
    `select ${selectFields('Run', 'r', ['generation', 'isTurnOpen'])} from run r where r.session_id = $1 for update`,
    [seen.id],
  );
  const locked = await lockSession(tx, seen.id, null);
  if (locked.endedBy === 'terminated' || locked.endedBy === 'expired') {
    const session = await changeSession(context, tx, locked, archive, [], false);
    return { session, before: locked, wasOver: true };
  }
  const generation = (run?.generation ?? 0) + 1;
  await tx.query(
    'update run set generation = $2, queued_at = null, command = null, command_data = null, is_turn_open = false where session_id = $1',
    [seen.id, generation],
  );
  await tx.query('update session_head set generation = $2 where session_id = $1', [seen.id, generation]);
  await tx.query('delete from lease where session_id = $1', [seen.id]);
  // The secrets are deleted with the session: it never runs again.
  await tx.query('delete from session_secret where session_id = $1', [seen.id]);
  const status = locked.status === 'error' ? 'error' : 'exit';
  const ended = { status, statusDetail: null, endedBy, pendingQuestionId: null } as const;
  const over = { ...ended, request: null, requestFrom: null, ...archive };
  const closed = run?.isTurnOpen ? await openToolCalls(tx, seen.id) : [];
  const session = await changeSession(context, tx, locked, over, [...closed, ...entries]);
  tx.afterCommit(() => context.notifier.notify(`command:${seen.id}`));
  return { session, before: locked, wasOver: false };
}
