import { notFound } from '../../common/errors.ts';
import type { Transaction } from '../../store/store.ts';
import { assignmentsOf, type Field, parametersOf, type Row } from '../../store/tables.ts';
import type { Context } from '../context.ts';
import { appendEntries, FencedError, type NewEntry } from './log.ts';
import { type SessionRecord, sessionColumns } from './session.ts';
import { requireTransition } from './status.ts';

const changedFields = [
  'status',
  'statusDetail',
  'request',
  'requestFrom',
  'endedBy',
  'isFresh',
  'isArchived',
  'pendingQuestionId',
  'waitsUntil',
] as const satisfies readonly Field<'Session'>[];

/** The fields of a session's status and its pending question. Omitted fields stay. */
export type StatusChange = Partial<Pick<SessionRecord, (typeof changedFields)[number]>>;

/**
 * Locks a session for a change and reads it. The lock order is the same everywhere: run (if needed), head, session.
 * Throws FencedError if `generation` is set and stale, and NOT_FOUND if there is no session.
 */
export async function lockSession(tx: Transaction, id: string, generation: number | null): Promise<SessionRecord> {
  const [head] = await tx.query<Pick<Row<'SessionHead'>, 'generation'>>(
    'select generation from session_head where session_id = $1 for update',
    [id],
  );
  if (!head) throw notFound('session');
  if (generation !== null && head.generation !== generation) throw new FencedError(id);
  const [session] = await tx.query<SessionRecord>(
    `select ${sessionColumns} from session s where s.id = $1 for update`,
    [id],
  );
  if (!session) throw notFound('session');
  return session;
}

const update = `
  update session set updated_at = greatest(updated_at, $2::timestamptz), ${assignmentsOf('Session', changedFields, 3)}
   where id = $1`;

/**
 * Moves a locked session along the table of transitions and writes the STATUS entry. `entries` are appended before it,
 * with the preceding numbers. Writes nothing for a change without effect, and no STATUS entry for a change of the
 * question alone. Without `isActivity`, the time of the session's last activity stays. Throws INVALID_STATE for an impossible
 * transition.
 */
export async function changeSession(
  context: Context,
  tx: Transaction,
  session: SessionRecord,
  change: StatusChange,
  entries: readonly NewEntry[] = [],
  isActivity = true,
): Promise<SessionRecord> {
  const next = withoutWait({ ...session, ...change });
  requireTransition(session.status, next.status);
  const changed = (Object.keys(change) as (keyof StatusChange)[]).filter((key) => session[key] !== next[key]);
  const isMoved = changed.some((key) => key !== 'pendingQuestionId');
  const now = context.now();
  const status: NewEntry = {
    kind: 'STATUS',
    data: {
      status: next.status,
      statusDetail: next.statusDetail,
      request: next.request,
      endedBy: next.endedBy,
      isArchived: next.isArchived,
    },
  };
  const all = isMoved ? [...entries, status] : entries;
  if (all.length > 0) await appendEntries(tx, session.id, null, all, now, isActivity);
  if (changed.length > 0) {
    const activeAt = isActivity ? now : null;
    await tx.query(update, [session.id, activeAt, ...parametersOf('Session', changedFields, next)]);
  }
  if (all.length > 0 || changed.length > 0) notifySession(context, tx, session);
  const isLater = isActivity && all.length > 0 && now > session.updatedAt;
  return { ...next, updatedAt: isLater ? now : session.updatedAt };
}

// Every other state ends the wait for a limit of the model's provider.
function withoutWait(session: SessionRecord): SessionRecord {
  return session.statusDetail === 'waiting_for_quota' ? session : { ...session, waitsUntil: null };
}

/** Notifies the topics of a session and of its organization after the commit. */
export function notifySession(
  context: Pick<Context, 'notifier'>,
  tx: Transaction,
  session: Pick<SessionRecord, 'id' | 'organizationId'>,
): void {
  tx.afterCommit(() => {
    context.notifier.notify(`session:${session.id}`);
    context.notifier.notify(`organization:${session.organizationId}`);
  });
}
