import type { TraceSpan } from '../common/trace-span.ts';

/** A request as the handlers of all APIs see it. */
export interface RequestView {
  /** The id in the header `X-Request-Id` of the response, and in the log. */
  readonly id: string;
  readonly method: string;
  /** The normalized path, percent-encoded as the client sent it, without the query. */
  readonly path: string;
  /** The query without its "?"; '' if there is none. */
  readonly search: string;
  /** The caller's network address; null if its connection has closed. */
  readonly address: string | null;
  /** The caller by its unprefixed id, for the access log. Null until the API has authenticated the request and sets it. */
  principalId: string | null;
  /** The span of the request in a trace; null: it is not recorded. Set before the APIs get the request. */
  span: TraceSpan | null;
  /** Aborted when the client disconnects before it has the whole response. */
  readonly signal: AbortSignal;
  /** A header by its lower-case name. Repeated headers are joined, so that none of them counts alone. Null if missing. */
  header(name: string): string | null;
  /** All headers by their lower-case names, joined like {@link RequestView.header}. */
  headers(): Headers;
  /**
   * Reads the body, once, in parts. While a promise of `onPart` is pending, no more is read. An error of `onPart` ends
   * the reading and is thrown; an {@link IncompleteBodyError} if the body ends too early.
   */
  read(onPart: (part: Uint8Array) => void | Promise<void>): Promise<void>;
  /** Closes the connection and drops everything that waits to be sent on it. */
  destroy(): void;
}

/** The message for a client whose request body is incomplete. */
export const incompleteBodyMessage = 'The body could not be read completely.';

/** The client disconnected, or aborted the transfer, within the body. */
export class IncompleteBodyError extends Error {
  constructor(cause: unknown) {
    super(incompleteBodyMessage, { cause });
    this.name = 'IncompleteBodyError';
  }
}

/** Decodes the query of a request. */
export const queryOf = ({ search }: RequestView): URLSearchParams => new URLSearchParams(search);

/** The path without slashes at its end. For a path of many slashes, a regular expression would take seconds. */
export function withoutEndSlashes(path: string): string {
  let end = path.length;
  while (end > 0 && path[end - 1] === '/') end--;
  return path.slice(0, end);
}
