/** A part of the store that can be unavailable while the process works. */
export type StoreService = 'database' | 'files';

/**
 * The database or the file storage does not answer, or has no space left. The operation may have been executed: after a
 * connection is lost during COMMIT, the result is unknown. It has no `code`, so that Prisma passes it on unchanged.
 */
export class StoreUnavailableError extends Error {
  readonly service: StoreService;
  /** The disk is full: reads may still succeed. */
  readonly isFull: boolean;
  /** The server is a standby: reads may still succeed. */
  readonly isReadOnly: boolean;
  /** Code or message of the cause, for the log. */
  readonly reason: string;

  constructor(service: StoreService, { isFull = false, cause }: { isFull?: boolean; cause: unknown }) {
    super(sentences[service][isFull ? 'full' : 'unavailable'], { cause });
    this.name = 'StoreUnavailableError';
    this.service = service;
    this.isFull = isFull;
    this.isReadOnly = chainOf(cause).some(({ code, originalCode }) => [code, originalCode].includes(readOnlyState));
    this.reason = describe(cause);
  }
}

const sentences = {
  database: {
    unavailable: 'The database isn’t responding.',
    full: 'The disk of the database is full.',
  },
  files: {
    unavailable: 'The file storage isn’t responding.',
    full: 'The disk of the file storage is full.',
  },
} as const;

/** read_only_sql_transaction: the server is a standby. */
export const readOnlyState = '25006';

/** SQLSTATEs of a server that cannot serve at the moment, in addition to the class 08 (connection exceptions). */
const unavailableStates = new Set([
  readOnlyState,
  '25P03', // idle_in_transaction_session_timeout
  '53200', // out_of_memory
  '53300', // too_many_connections
  '57014', // query_canceled: statement_timeout
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57P05', // idle_session_timeout
]);

/** Errors of sockets and of name resolution. */
const networkCodes = new Set([
  'EADDRNOTAVAIL',
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

/** Codes of Prisma's client: no server, timeouts, closed connections, no free connection. */
const prismaCodes = new Set(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2037']);

/** Kinds of errors of Prisma's driver adapters that have lost the driver's own code. */
const prismaKinds = new Set(['ConnectionClosed', 'DatabaseNotReachable', 'SocketTimeout', 'TooManyConnections']);

/** Errors of node-postgres, pg-pool and PGlite that consist of a message only. */
const messages =
  /^(?:Connection terminated|timeout expired|timeout exceeded when trying to connect|Query read timeout|Client (?:has encountered a connection error|was closed) and is not queryable|Cannot use a pool after calling end|PGlite is clos)/;

/** Names of errors of S3 and of its client. A bucket that refuses the key serves again when the operator has corrected it. */
const s3Names = new Set([
  'AccessDenied',
  'CredentialsProviderError',
  'ExpiredToken',
  'InvalidAccessKeyId',
  'InvalidToken',
  'NetworkingError',
  'NoSuchBucket',
  'RequestTimeTooSkewed',
  'RequestTimeout',
  'ServiceUnavailable',
  'SignatureDoesNotMatch',
  'SlowDown',
  'TimeoutError',
]);

const fullCodes = new Set(['53100', 'ENOSPC', 'EDQUOT']);
const diskCodes = new Set(['EIO', 'EROFS', 'ESTALE']);

/** Converts an error of a driver to {@link StoreUnavailableError} if it means that; returns any other error as it is. */
export function toStoreError(service: StoreService, error: unknown): unknown {
  if (error instanceof StoreUnavailableError) return error;
  if (isDiskFull(error)) return new StoreUnavailableError(service, { isFull: true, cause: error });
  return isUnavailable(error) ? new StoreUnavailableError(service, { cause: error }) : error;
}

/** Tells if an error, or its cause, means that a disk is full. */
export function isDiskFull(error: unknown): boolean {
  return chainOf(error).some(
    ({ code, originalCode, message }) =>
      fullCodes.has(String(code)) ||
      fullCodes.has(String(originalCode)) ||
      /No space left on device|Disk quota exceeded/.test(String(message)),
  );
}

/** Tells if an error, or its cause, means that a server or a disk cannot be used at the moment. */
export function isUnavailable(error: unknown): boolean {
  return chainOf(error).some((each) => {
    const { name, message, kind, syscall, $metadata } = each;
    const codes = [each.code, each.originalCode].map(String);
    return (
      codes.some(isUnavailableCode) ||
      (syscall === 'connect' && codes.includes('ENOENT')) ||
      prismaKinds.has(String(kind)) ||
      s3Names.has(String(name)) ||
      messages.test(String(message)) ||
      ($metadata?.httpStatusCode ?? 0) >= 500
    );
  });
}

function isUnavailableCode(code: string): boolean {
  return (
    /^08[0-9A-Z]{3}$/.test(code) ||
    unavailableStates.has(code) ||
    networkCodes.has(code) ||
    diskCodes.has(code) ||
    prismaCodes.has(code)
  );
}

interface Fields {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly originalCode?: unknown;
  readonly kind?: unknown;
  readonly syscall?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

const maxDepth = 5;

/** Returns an error, its causes, and the errors that an AggregateError joins. */
function chainOf(error: unknown, depth: number = 0): Fields[] {
  if (error === null || typeof error !== 'object' || depth > maxDepth) return [];
  const fields = error as Fields;
  const joined = Array.isArray(fields.errors) ? fields.errors : [];
  return [fields, ...[fields.cause, ...joined].flatMap((each) => chainOf(each, depth + 1))];
}

function describe(cause: unknown): string {
  const found = chainOf(cause);
  const texts = (['message', 'code'] as const).map((key) =>
    found.map((each) => each[key]).find((value) => typeof value === 'string' && value !== ''),
  );
  return texts.filter((text) => text !== undefined).join(' ') || 'no reason was given';
}
