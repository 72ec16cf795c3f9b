import { permissionFor } from '../../auth/permissions.ts';
import type { Transaction } from '../../store/store.ts';
import { audit } from '../audit/record-audit.ts';
import type { Context } from '../context.ts';
import { changeSession } from './change-session.ts';
import { getSessionFor, type SessionTarget } from './find-session.ts';
import { keepRead } from './personal-state.ts';
import type { SessionRecord } from './session.ts';
import type { SessionStatus } from './status.ts';
import { lockRunAndSession, suspendLocked } from './suspend-session.ts';

const awake: ReadonlySet<SessionStatus> = new Set(['new', 'claimed', 'running', 'resuming']);

/**
 * Archives a session, and suspends it if it runs or waits for the user. The time of its last activity and its child sessions do not
 * change. An archived session accepts no messages. Throws NOT_FOUND, FORBIDDEN.
 */
export async function archiveSession(context: Context, input: SessionTarget): Promise<SessionRecord> {
  return archiveSeen(context, await getSessionFor(context, permissionFor.changeSession, input));
}

/** {@link archiveSession} for the domain's own use, without a permission check. */
export function archiveSeen(context: Context, { id }: Pick<SessionRecord, 'id'>): Promise<SessionRecord> {
  return context.store.transact(async (tx) => archiveLocked(context, tx, await lockRunAndSession(tx, id)));
}

/** Writes the audit entry of a session that was archived or unarchived; none if it was before. */
export async function auditArchive(
  context: Context,
  tx: Transaction,
  before: Pick<SessionRecord, 'isArchived'>,
  { id, organizationId, isArchived }: SessionRecord,
): Promise<void> {
  if (isArchived === before.isArchived) return;
  const action = isArchived ? 'archive_session' : 'unarchive_session';
  await audit(context, tx, action, { organizationId, sessionId: id, targetId: id });
}

/** {@link archiveSeen} for a session that `lockRunAndSession` has locked. */
export async function archiveLocked(context: Context, tx: Transaction, locked: SessionRecord): Promise<SessionRecord> {
  const asleep = awake.has(locked.status) ? await suspendLocked(context, tx, locked, false) : locked;
  const archived = await changeSession(context, tx, asleep, { isArchived: true }, [], false);
  await auditArchive(context, tx, locked, archived);
  await keepRead(context, tx, locked, archived);
  return archived;
}

/**
 * Unarchives a session, but not its child sessions. It stays suspended until a message or `resumeSession` wakes it.
 * Throws NOT_FOUND, FORBIDDEN.
 */
export async function unarchiveSession(context: Context, input: SessionTarget): Promise<SessionRecord> {
  return unarchiveSeen(context, await getSessionFor(context, permissionFor.changeSession, input));
}

/** {@link unarchiveSession} for the domain's own use, without a permission check. */
export function unarchiveSeen(context: Context, { id }: Pick<SessionRecord, 'id'>): Promise<SessionRecord> {
  return context.store.transact(async (tx) => {
    const locked = await lockRunAndSession(tx, id);
    const unarchived = await changeSession(context, tx, locked, { isArchived: false }, [], false);
    await auditArchive(context, tx, locked, unarchived);
    await keepRead(context, tx, locked, unarchived);
    return unarchived;
  });
}
