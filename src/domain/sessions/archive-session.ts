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
  const seen = await getSessionFor(context, permissionFor.changeSession, input);
  return context.store.transact(async (tx) => {
    const locked = await lockRunAndSession(tx, seen.id);
    const asleep = awake.has(locked.status) ? await suspendLocked(context, tx, locked, 'api') : locked;
    return changeSession(context, tx, asleep, { isArchived: true });
  });
}

/**
 * Takes a session out of the archive, and none of those that it started. It does not wake: a message does that, or
 * `resumeSession`. NOT_FOUND, FORBIDDEN.
 */
export async function unarchiveSession(context: Context, input: SessionTarget): Promise<SessionRecord> {
  const seen = await getSessionFor(context, permissionFor.changeSession, input);
  return context.store.transact(async (tx) => {
    const locked = await lockRunAndSession(tx, seen.id);
    return changeSession(context, tx, locked, { isArchived: false });
  });
}
