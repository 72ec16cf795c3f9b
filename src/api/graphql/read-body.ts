import { maxJsonDepth, nestsDeeper } from '../../common/json-depth.ts';
import { IncompleteBodyError, type RequestView } from '../../http/request-view.ts';

/** The maximum size of an operation's body. */
const maxBodyBytes = 1_024 * 1_024;

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
 * Reads the body of a request as text. The size is checked while the body arrives, because Content-Length may be missing
 * or wrong, and the body must be UTF-8.
 */
export async function readText(request: RequestView): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  const take = (part: Uint8Array) => {
    bytes += part.length;
    if (bytes > maxBodyBytes)
      throw new BodyError(`The body must be at most 1 MiB (${maxBodyBytes} bytes).`, { status: 413 });
    parts.push(part);
  };
  await request.read(take).catch((cause: unknown) => {
    throw cause instanceof IncompleteBodyError ? new BodyError(cause.message, { status: 400, cause }) : cause;
  });
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(parts.length === 1 ? parts[0] : Buffer.concat(parts));
  } catch (error) {
    throw new BodyError('The body must be UTF-8 text.', { status: 400, cause: error });
  }
  if (nestsDeeper(text)) {
    throw new BodyError(`The body must not nest deeper than ${maxJsonDepth} levels.`, { status: 400 });
  }
  return text;
}
