import type { Dialect } from './dialects.ts';

/** A limit of the provider: while it is set, every call is refused with 429. */
export interface Limit {
  /** The time until the reset, which the refusal states; null: it states none. */
  readonly seconds: () => number | null;
  /** `usage`: the limit of a ChatGPT plan, as Codex gets it; `billing`: an account without credit. Default: `rate`. */
  readonly kind?: 'rate' | 'usage' | 'billing';
}

interface Refusal {
  readonly headers: Record<string, string>;
  readonly body: object;
}

/** Returns the provider's refusal, in the form that its API documents. */
export function refusalOf(dialect: Dialect['name'], { seconds, kind = 'rate' }: Limit): Refusal {
  const left = seconds();
  const retryAfter = left === null ? {} : { 'retry-after': String(Math.ceil(left)) };
  if (dialect === 'anthropic') return anthropic(left, retryAfter);
  if (dialect === 'gemini') return gemini(left);
  if (kind === 'usage') return { headers: {}, body: { error: usageLimit(left) } };
  const message =
    kind === 'billing'
      ? 'You exceeded your current quota, please check your plan and billing details.'
      : `Rate limit reached for m in organization org-1 on requests per min (RPM): Limit 3, Used 3, Requested 1.${left === null ? '' : ` Please try again in ${left}s.`}`;
  const [type, code] =
    kind === 'billing' ? ['insufficient_quota', 'insufficient_quota'] : ['requests', 'rate_limit_exceeded'];
  const headers = {
    'x-ratelimit-limit-requests': '3',
    'x-ratelimit-remaining-requests': '0',
    'x-ratelimit-remaining-tokens': '149984',
    'x-ratelimit-reset-tokens': '6ms',
    ...(left !== null && { 'x-ratelimit-reset-requests': `${left}s` }),
  };
  return { headers: { ...headers, ...retryAfter }, body: { error: { message, type, param: null, code } } };
}

function usageLimit(left: number | null): object {
  const resets = left === null ? {} : { 'resets_at': Math.ceil(Date.now() / 1_000 + left), 'resets_in_seconds': left };
  return { type: 'usage_limit_reached', message: 'The usage limit has been reached', 'plan_type': 'plus', ...resets };
}

function anthropic(left: number | null, retryAfter: Record<string, string>): Refusal {
  const reset = new Date(Date.now() + (left ?? 0) * 1_000).toISOString().replace(/\.\d+Z$/, 'Z');
  const headers = {
    ...retryAfter,
    'anthropic-ratelimit-requests-limit': '50',
    'anthropic-ratelimit-requests-remaining': '0',
    ...(left !== null && { 'anthropic-ratelimit-requests-reset': reset }),
  };
  const message = 'This request would exceed your organization’s rate limit of 50 requests per minute.';
  return { headers, body: { type: 'error', error: { type: 'rate_limit_error', message } } };
}

function gemini(left: number | null): Refusal {
  const type = 'type.googleapis.com/google.rpc';
  const violation = {
    quotaMetric: 'generate_content_free_tier_requests',
    quotaId: 'GenerateRequestsPerMinutePerProjectPerModel',
  };
  const details = [
    { '@type': `${type}.QuotaFailure`, violations: [violation] },
    ...(left === null ? [] : [{ '@type': `${type}.RetryInfo`, retryDelay: `${left}s` }]),
  ];
  const message = `You exceeded your current quota, please check your plan and billing details.${left === null ? '' : ` Please retry in ${left}s.`}`;
  return { headers: {}, body: { error: { code: 429, message, status: 'RESOURCE_EXHAUSTED', details } } };
}
