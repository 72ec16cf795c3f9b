/**
 * The error codes of the domain and their meanings. `docs/errors.md` lists the same codes, and each API has a complete
 * table from code to response.
 */
export const errorCatalogue = {
  UNAUTHENTICATED: 'No key, an unknown, expired or revoked key, or a key of a kind that this API does not accept.',
  FORBIDDEN: 'The key is valid, but it lacks a permission. The message names the permission.',
  CONFIRMATION_REQUIRED:
    'A browser that is signed in to the console asked for lasting access without having shown its token in the last 10 minutes.',
  ORGANIZATION_NOT_USABLE:
    'The caller doesn’t belong to the organization. The answer is the same if the organization doesn’t exist.',
  NOT_FOUND: 'No resource with this id is visible to the caller.',
  INVALID_INPUT: 'A value breaks a rule; each issue names its path.',
  BAD_CURSOR: 'A cursor does not belong to this list.',
  UNKNOWN_REFERENCE: 'An id inside the input, or a name in a prompt, refers to nothing that the caller may use.',
  NOT_UNIQUE: 'A name that must be unique is already in use.',
  INVALID_STATE: 'The resource is in a state that doesn’t allow this operation.',
  LIMIT_EXCEEDED: 'The operation would exceed a limit.',
  CONFLICT: 'The resource has a newer version than `expectedVersion`: it was changed in the meantime.',
  IDEMPOTENCY_CONFLICT: 'The idempotency key was used with other input.',
  RATE_LIMITED: 'Too many requests in this minute. The answer says when to try again.',
  SERVICE_UNAVAILABLE:
    'The database or the file storage does not answer, or its disk is full; the answer says when to try again. A change may have been carried out.',
} as const;

/** A key of {@link errorCatalogue}. */
export type ErrorCode = keyof typeof errorCatalogue;

/** A problem of one value. `path` has our own (camelCase) names, outermost first; an API translates it. */
export interface Issue {
  readonly path: readonly string[];
  readonly message: string;
}

/** An error that a caller may read: `message` never contains a secret, a stack or another tenant's data. */
export class DomainError extends Error {
  readonly code: ErrorCode;
  readonly issues: readonly Issue[];

  constructor(code: ErrorCode, message: string, issues: readonly Issue[] = []) {
    super(message);
    this.name = 'DomainError';
    this.code = code;
    this.issues = issues;
  }
}

/** FORBIDDEN because the caller lacks one permission. */
export class MissingPermissionError extends DomainError {
  /** A name in the table of permissions of `auth/permissions.ts`, which this file must not import. */
  readonly permission: string;

  constructor(permission: string, message: string, issues: readonly Issue[] = []) {
    super('FORBIDDEN', message, issues);
    this.permission = permission;
  }
}

/** RATE_LIMITED, with the number of whole seconds until a retry. */
export class RateLimitedError extends DomainError {
  readonly retryAfterSeconds: number;

  constructor(message: string, { resetSeconds, cause }: { readonly resetSeconds: number; readonly cause?: unknown }) {
    super('RATE_LIMITED', message);
    if (cause !== undefined) this.cause = cause;
    this.retryAfterSeconds = resetSeconds;
  }
}

/** SERVICE_UNAVAILABLE, with the number of whole seconds until a retry. */
export class UnavailableError extends DomainError {
  readonly retryAfterSeconds: number;

  constructor(
    message: string,
    { retryAfterSeconds, cause }: { readonly retryAfterSeconds: number; readonly cause: unknown },
  ) {
    super('SERVICE_UNAVAILABLE', message);
    this.cause = cause;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Returns the number of whole seconds until a retry; null for an error without one. */
export function retryAfterOf(error: unknown): number | null {
  return error instanceof RateLimitedError || error instanceof UnavailableError ? error.retryAfterSeconds : null;
}

/** INVALID_INPUT from its issues: the message joins theirs, for APIs with a single string. */
export function invalidInput(issues: readonly Issue[]): DomainError {
  return new DomainError('INVALID_INPUT', issues.map((issue) => issue.message).join(' '), issues);
}

/** INVALID_INPUT, or another code about a value, with one issue. */
export function refuse(path: readonly string[], message: string, code: ErrorCode = 'INVALID_INPUT'): DomainError {
  return new DomainError(code, message, [{ path, message }]);
}

/** NOT_FOUND for a kind of object: the same message whether it is missing or another tenant's. */
export function notFound(what: string): DomainError {
  return new DomainError('NOT_FOUND', `There is no such ${what}.`);
}
