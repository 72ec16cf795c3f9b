import { DomainError, type ErrorCode, retryAfterOf } from '../../common/errors.ts';
import type { Services } from '../../domain/context.ts';
import { asRefusal } from '../../domain/unavailable.ts';
import { jsonReply, type Reply } from '../../http/reply.ts';
import type { RequestView } from '../../http/request-view.ts';

/** The positions of the first and the last byte of a part. */
export interface FileRange {
  readonly start: number;
  readonly end: number;
}

/** Reads the single range of a GET. Several ranges, another unit or another method count as no range (RFC 9110, 14.2). */
export function readRange(request: RequestView, size: number): FileRange | 'unsatisfiable' | null {
  if (request.method !== 'GET') return null;
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(request.header('range')?.trim() ?? '');
  if (!match || (match[1] === '' && match[2] === '')) return null;
  const [first, last] = [match[1] as string, match[2] as string];
  if (first !== '' && last !== '' && Number(last) < Number(first)) return null;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  return start > end ? 'unsatisfiable' : { start, end };
}

/** Returns `Content-Disposition` for a file of any name (RFC 6266). */
export function dispositionOf(name: string, isShown: boolean): string {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*!]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${isShown ? 'inline' : 'attachment'}; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

/** Headers that make any content harmless in a browser, although the console is served from the same origin. */
export const harmlessHeaders = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  'referrer-policy': 'no-referrer',
  'cache-control': 'private, no-store',
} as const;

/** The status of an error at the unversioned addresses of files. */
export const fileStatusOf = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  CONFIRMATION_REQUIRED: 403,
  ORGANIZATION_NOT_USABLE: 403,
  NOT_FOUND: 404,
  INVALID_INPUT: 422,
  BAD_CURSOR: 422,
  UNKNOWN_REFERENCE: 400,
  NOT_UNIQUE: 409,
  INVALID_STATE: 409,
  LIMIT_EXCEEDED: 400,
  CONFLICT: 409,
  IDEMPOTENCY_CONFLICT: 422,
  RATE_LIMITED: 429,
  SERVICE_UNAVAILABLE: 503,
} as const satisfies Record<ErrorCode, number>;

/** Returns the reply to an error at the address of a file. An unexpected error is logged. */
export function refuseFile({ log }: Pick<Services, 'log'>, { id, method, path }: RequestView, failure: unknown): Reply {
  const error = asRefusal(failure);
  if (error instanceof DomainError) return refusal(fileStatusOf[error.code], error.message, retryAfterOf(error));
  log.error({ err: error, requestId: id, method, path }, 'A file could not be served.');
  return refusal(500, 'Something went wrong');
}

function refusal(status: number, detail: string, retryAfter: number | null = null): Reply {
  const headers = { 'cache-control': 'no-store', ...(retryAfter !== null && { 'retry-after': String(retryAfter) }) };
  return jsonReply(status, { detail }, headers);
}
