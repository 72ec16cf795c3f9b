import type { Context } from '../context.ts';
import { DomainError } from '../errors.ts';
import { getSession } from './find-session.ts';
import { readLogCursor } from './list-log.ts';
import type { EventKind } from './log.ts';

/** The input of a subscription. `after`: any cursor of this session's log; if omitted: from the first entry. */
export interface WatchRequest {
  readonly sessionId: string;
  readonly after?: string | null | undefined;
  readonly messagesOnly: boolean;
  readonly kinds?: readonly EventKind[] | null | undefined;
}

/** The start of a subscription to a log, after the check that its viewer may see the session. */
export interface WatchStart extends Pick<WatchRequest, 'messagesOnly'> {
  /** Unprefixed id. */
  readonly sessionId: string;
  readonly after: number;
  readonly kinds: readonly EventKind[] | null;
  /** Equal for all requests with the same kinds of entries. */
  readonly kindsKey: string;
}

/** Checks the input of a subscription. Throws NOT_FOUND and BAD_CURSOR. */
export async function startWatch(context: Context, request: WatchRequest): Promise<WatchStart> {
  const session = await getSession(context, request.sessionId);
  const after = request.after == null ? 0 : readLogCursor(session.id, request.after);
  if (after === null) {
    const message = '"after" must be a cursor of this session’s messages or events.';
    throw new DomainError('BAD_CURSOR', message, [{ path: ['after'], message }]);
  }
  const { messagesOnly } = request;
  const kinds = request.kinds ? [...new Set(request.kinds)].sort() : null;
  return { sessionId: session.id, after, messagesOnly, kinds, kindsKey: `${messagesOnly}|${kinds?.join(',') ?? ''}` };
}
