import type { Spending } from './counter.ts';

/**
 * Returns the HTTP headers for a limit, the same in every API (draft-ietf-httpapi-ratelimit-headers); none without a
 * limit.
 */
export function limitHeaders(spending: Spending | null): Readonly<Record<string, string>> {
  if (spending === null) return {};
  return {
    'ratelimit-limit': String(spending.limit),
    'ratelimit-remaining': String(spending.remaining),
    'ratelimit-reset': String(spending.resetSeconds),
  };
}
