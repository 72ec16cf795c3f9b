/** Headers of a response by their lower-case names. An array is sent as one line for each value. */
export type ReplyHeaders = Readonly<Record<string, string | readonly string[]>>;

/** The body of a response. A stream is read at the pace of the client. */
export type ReplyBody = string | Uint8Array | ReadableStream<Uint8Array> | null;

/** The response to a {@link RequestView}, before it is compressed and gets its CORS headers. */
export class Reply {
  readonly status: number;
  readonly headers: ReplyHeaders;
  readonly body: ReplyBody;

  constructor(status: number, headers: ReplyHeaders = {}, body: ReplyBody = null) {
    this.status = status;
    this.headers = headers;
    this.body = body;
  }

  /** The same response with other or more headers. */
  with(headers: ReplyHeaders): Reply {
    return new Reply(this.status, { ...this.headers, ...headers }, this.body);
  }

  /** The same response without its body, as HEAD gets it. */
  withoutBody(): Reply {
    if (this.body instanceof ReadableStream) this.body.cancel().catch(() => undefined);
    return new Reply(this.status, this.headers);
  }
}

/** A response with a JSON body. */
export function jsonReply(status: number, value: unknown, headers: ReplyHeaders = {}): Reply {
  return new Reply(status, { 'content-type': 'application/json', ...headers }, JSON.stringify(value));
}

/** A plain-text response of one line. */
export function textReply(status: number, text: string, headers: ReplyHeaders = {}): Reply {
  return new Reply(status, { 'content-type': 'text/plain; charset=utf-8', ...headers }, `${text}\n`);
}

/** Appends a value to a header that is a list, such as `Vary`. */
export function appended(list: string | readonly string[] | undefined, value: string): string {
  return list === undefined ? value : `${list}, ${value}`;
}
