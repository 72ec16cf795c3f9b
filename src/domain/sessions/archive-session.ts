import { permissionFor } from '../../auth/permissions.ts';
import type { Context } from '../context.ts';
import { changeSession } from './change-session.ts';
import { getSessionFor, type SessionTarget } from './find-session.ts';
import type { SessionRecord } from './session.ts';
import type { SessionStatus } from './status.ts';
import { lockRunAndSession, suspendLocked } from './suspend-session.ts';

const awake: ReadonlySet<SessionStatus> = new Set(['new', 'claimed', 'running', 'resuming']);

/**
 * Archives a session, and puts it to sleep when it is at work or waits for it. Sessions that it started are left alone.
 * An archived one takes no messages. NOT_FOUND, FORBIDDEN.
 */
export async function archiveSession(context: Context, input: SessionTarget): Promise<SessionRecord> {
  return archiveSeen(context, await getSessionFor(context, permissionFor.changeSession, input));
}

/** {@link archiveSession} for the domain's own use: it asks for no permission. */
export function archiveSeen(context: Context, { id }: Pick<SessionRecord, 'id'>): Promise<SessionRecord> {
  return context.store.transact(async (tx) => {
    const locked = await lockRunAndSession(tx, id);
    const asleep = awake.has(locked.status) ? await suspendLocked(context, tx, locked) : locked;
    return changeSession(context, tx, asleep, { isArchived: true });
  });
}

/**
 * Takes a session out of the archive, and none of those that it started. It does not wake: a message does that, or
 * `resumeSession`. NOT_FOUND, FORBIDDEN.
 */
export async function unarchiveSession(context: Context, input: SessionTarget): Promise<SessionRecord> {
  return unarchiveSeen(context, await getSessionFor(context, permissionFor.changeSession, input));
}

/** {@link unarchiveSession} for the domain's own use: it asks for no permission. */
export function unarchiveSeen(context: Context, { id }: Pick<SessionRecord, 'id'>): Promise<SessionRecord> {
  return context.store.transact(async (tx) =>
    changeSession(context, tx, await lockRunAndSession(tx, id), { isArchived: false }),
  );
}
