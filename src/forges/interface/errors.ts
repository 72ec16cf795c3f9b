/**
 * The reasons why a forge did not do what it was asked.
 * `INVALID_CONNECTION`: the settings of the connection. `CREDENTIAL_REFUSED`: unknown, expired or revoked. `MISSING_PERMISSION`:
 * the error names it. `NOT_FOUND`: or not visible to the credential. `REJECTED`: a rule of the forge; the message has its reason.
 * `RATE_LIMITED`: the error has the time of the next attempt. `UNREACHABLE`: no response, or a failure of the forge.
 * `INVALID_RESPONSE`: not what the forge's API describes. `INVALID_SIGNATURE`: of a webhook. `UNSUPPORTED`: by this kind of forge.
 */
export type ForgeErrorCode =
  | 'INVALID_CONNECTION'
  | 'CREDENTIAL_REFUSED'
  | 'MISSING_PERMISSION'
  | 'NOT_FOUND'
  | 'REJECTED'
  | 'RATE_LIMITED'
  | 'UNREACHABLE'
  | 'INVALID_RESPONSE'
  | 'INVALID_SIGNATURE'
  | 'UNSUPPORTED';

/** The optional parts of a {@link ForgeError}. */
export interface ForgeErrorDetails {
  readonly permission?: string | null;
  readonly retryAt?: Date | null;
  readonly status?: number | null;
  readonly cause?: unknown;
}

/** An error whose message a user may read: one sentence or more, without a credential, an address or control characters. */
export class ForgeError extends Error {
  readonly code: ForgeErrorCode;
  /** The permission that is missing, in the words of the forge, such as `pull_requests: write`; null for other codes. */
  readonly permission: string | null;
  /** The time when the forge answers again; null if it did not say, and for other codes. */
  readonly retryAt: Date | null;
  /** The status of the response; null without one. */
  readonly status: number | null;

  constructor(code: ForgeErrorCode, message: string, details: ForgeErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'ForgeError';
    this.code = code;
    this.permission = details.permission ?? null;
    this.retryAt = details.retryAt ?? null;
    this.status = details.status ?? null;
  }
}

/** Tells if an error is a {@link ForgeError} with one of these codes. */
export function isForgeError(error: unknown, ...codes: ForgeErrorCode[]): error is ForgeError {
  return error instanceof ForgeError && (codes.length === 0 || codes.includes(error.code));
}

/** INVALID_RESPONSE: `what` says how the response of `host` differs from the API's description. */
export function invalidResponse(host: string, what: string, cause?: unknown): ForgeError {
  return new ForgeError('INVALID_RESPONSE', `${host} sent an invalid response: ${what}.`, { cause });
}

/** An error with the one that caused it. */
export function causedBy(
  cause: unknown,
  code: ForgeErrorCode,
  message: string,
  details: ForgeErrorDetails = {},
): ForgeError {
  return new ForgeError(code, message, { ...details, cause });
}
