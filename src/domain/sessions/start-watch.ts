import type { Context } from '../context.ts';
import { DomainError } from '../errors.ts';
import { getSession } from './find-session.ts';
import { readLogCursor } from './list-log.ts';
import type { EventKind } from './log.ts';

/** What a subscription asks for. `after`: any cursor of this session's log; left out: from the first entry. */
export interface WatchRequest {
  readonly sessionId: string;
  readonly after?: string | null | undefined;
  readonly messagesOnly: boolean;
  readonly kinds?: readonly EventKind[] | null | undefined;
}

/** Where a subscription to a log begins, once it is known that its viewer may see the session. */
export interface WatchStart extends Pick<WatchRequest, 'messagesOnly'> {
  /** Bare. */
  readonly sessionId: string;
  readonly after: number;
  readonly kinds: readonly EventKind[] | null;
  /** The same for all who ask for the same kinds of entries. */
  readonly kindsKey: string;
}

/** Reads what a subscription asks for. NOT_FOUND and BAD_CURSOR. */
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
