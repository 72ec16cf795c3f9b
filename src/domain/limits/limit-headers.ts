import type { Spending } from './counter.ts';

/** What an HTTP answer says of a limit, at every door alike (draft-ietf-httpapi-ratelimit-headers); nothing without one. */
export function limitHeaders(spending: Spending | null): Readonly<Record<string, string>> {
  if (spending === null) return {};
  return {
    'ratelimit-limit': String(spending.limit),
    'ratelimit-remaining': String(spending.remaining),
    'ratelimit-reset': String(spending.resetSeconds),
  };
}
