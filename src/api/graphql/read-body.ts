import { maxJsonDepth, nestsDeeper } from '../../domain/json-depth.ts';
import { bodyParts, brokenBody } from '../../http/body-parts.ts';

/** The maximum size of an operation's body. */
export const maxBodyBytes = 1_024 * 1_024;

/** A body that cannot be an operation; `status` is the HTTP status. */
export class BodyError extends Error {
  readonly status: 400 | 413;

  constructor(message: string, options: { status: 400 | 413; cause?: unknown }) {
    super(message, options);
    this.name = 'BodyError';
    this.status = options.status;
  }
}

/**
 * Reads the body of a request and returns the request with it. The size is checked while the body arrives, because
 * Content-Length may be missing or wrong, and the body must be UTF-8. `signal` replaces the request's own.
 */
export async function readBody(request: Request, signal: AbortSignal): Promise<Request> {
  if (!request.body) return new Request(request.url, { method: request.method, headers: request.headers, signal });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of bodyParts(request, incompleteBody)) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes)
      throw new BodyError(`The body must be at most 1 MiB (${maxBodyBytes} bytes).`, { status: 413 });
    chunks.push(chunk);
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch (error) {
    throw new BodyError('The body must be UTF-8 text.', { status: 400, cause: error });
  }
  if (nestsDeeper(text)) {
    throw new BodyError(`The body must not nest deeper than ${maxJsonDepth} levels.`, { status: 400 });
  }
  const headers = new Headers(request.headers);
  headers.delete('content-length');
  return new Request(request.url, { method: request.method, headers, body: text, signal });
}

const incompleteBody = (cause: unknown) => new BodyError(brokenBody, { status: 400, cause });
