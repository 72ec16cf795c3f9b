import { UnavailableError } from '../common/errors.ts';
import { StoreUnavailableError } from '../store/unavailable.ts';

/** Seconds until a retry: most outages are a restart; a full disk needs an operator. */
const retryAfterSeconds = { outage: 2, full: 30 } as const;

/**
 * Converts the store's error of an outage to the refusal that callers see; returns any other error as it is. Each API calls it
 * before it looks at an error. Background work lets the store's error pass, because it must not count as a refusal there.
 */
export function asRefusal(error: unknown): unknown {
  if (!(error instanceof StoreUnavailableError)) return error;
  const after = error.isFull ? retryAfterSeconds.full : retryAfterSeconds.outage;
  const message = `${error.message} Try again in ${after} seconds; repeat a change with the same idempotency key, because it may have been carried out.`;
  return new UnavailableError(message, { retryAfterSeconds: after, cause: error });
}

/** Tells whether an error means that the database or the file storage does not answer. */
export function isOutage(error: unknown): boolean {
  return error instanceof StoreUnavailableError || error instanceof UnavailableError;
}
