import { DomainError } from '../../common/errors.ts';
import type { Context } from '../context.ts';
import { getSession } from './find-session.ts';
import { readLogCursor } from './list-log.ts';
import type { EventKind } from './log.ts';
import { type SessionLog, sessionLog } from './log-source.ts';

/** The input of a subscription. `after`: any cursor of this session's log; if omitted: from the first entry. */
export interface WatchRequest {
  readonly sessionId: string;
  readonly after?: string | null | undefined;
  readonly messagesOnly: boolean;
  readonly kinds?: readonly EventKind[] | null | undefined;
}

/** The start of a subscription to a log whose viewer may see the session. */
export interface WatchStart {
  readonly log: SessionLog;
  /** Number of the entry before the first one. */
  readonly after: number;
  /** True if the open drafts are sent too. */
  readonly isLive?: boolean;
}

/** Reads the input of a subscription. NOT_FOUND and BAD_CURSOR. */
export async function startWatch(context: Context, request: WatchRequest): Promise<WatchStart> {
  const session = await getSession(context, request.sessionId);
  const after = request.after == null ? 0 : readLogCursor(session.id, request.after);
  if (after === null) {
    const message = '"after" must be a cursor of this session’s messages or events.';
    throw new DomainError('BAD_CURSOR', message, [{ path: ['after'], message }]);
  }
  const { messagesOnly, kinds = null } = request;
  return { log: sessionLog(session.id, { messagesOnly, kinds }), after };
}
