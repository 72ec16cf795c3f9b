import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readAgentRefusal } from '../../../src/agents/quota/agent-errors.ts';
import { maxResetMs, readDuration, readRefusal, readResetText } from '../../../src/agents/quota/reset-time.ts';

const now = Date.parse('2026-11-23T14:00:00Z');
const read = (headers: Record<string, unknown>, body: unknown = null, status = 429) =>
  readRefusal({ status, headers: headers as never, text: typeof body === 'string' ? body : JSON.stringify(body) }, now);
const resetMs = (headers: Record<string, unknown>, body?: unknown) => read(headers, body)?.resetMs;
const retryInfo = (retryDelay: unknown) => ({ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay });

it.for([
  [{ 'retry-after': '20' }, 20_000],
  [{ 'retry-after': '0.5' }, 500],
  [{ 'retry-after-ms': '1500', 'retry-after': '2' }, 1_500],
  [{ 'retry-after': 'Mon, 23 Nov 2026 14:00:20 GMT' }, 20_000],
  // The provider's clock is an hour ahead.
  [{ 'retry-after': 'Mon, 23 Nov 2026 15:00:20 GMT', date: 'Mon, 23 Nov 2026 15:00:00 GMT' }, 20_000],
  [{ 'anthropic-ratelimit-requests-reset': '2026-11-23T14:00:20Z' }, 20_000],
  [{ 'anthropic-ratelimit-unified-reset': String(now / 1_000 + 30) }, 30_000],
  [{ 'x-ratelimit-reset-requests': '1m30s' }, 90_000],
  [{ 'x-ratelimit-reset-tokens': '6ms' }, 6],
  [{ 'x-ratelimit-reset': String(now + 40_000) }, 40_000],
  // Only a limit without anything left counts.
  [
    {
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '20s',
      'x-ratelimit-remaining-tokens': '5',
      'x-ratelimit-reset-tokens': '2m',
    },
    20_000,
  ],
] as const)('reads the headers %j', ([headers, ms]) => {
  expect(resetMs(headers)).toBe(ms);
});

it.for([
  [{ error: { code: 429, details: [{ '@type': 'other' }, retryInfo('34.07s')] } }, 34_070],
  [[{ error: { code: 429, details: [retryInfo('20s')] } }], 20_000],
  [{ error: { type: 'usage_limit_reached', resets_in_seconds: 60 } }, 60_000],
  [{ error: { type: 'usage_limit_reached', resets_at: now / 1_000 + 60 } }, 60_000],
  [{ error: { message: 'Rate limit reached for m. Please try again in 1m3.5s. Visit us.' } }, 63_500],
] as const)('reads the body %j', ([body, ms]) => {
  expect(resetMs({}, body)).toBe(ms);
});

it.for([
  { 'retry-after': '-5' },
  { 'retry-after': '0' },
  { 'retry-after': 'NaN' },
  { 'retry-after': 'Infinity' },
  { 'retry-after': '1e9' },
  { 'retry-after': '9'.repeat(400) },
  { 'retry-after': ['20', '30'] },
  { 'retry-after': 'Mon, 23 Nov 2020 14:00:20 GMT' },
  { 'retry-after': `14${' '.repeat(10_000)}GMT` },
  { 'x-ratelimit-reset-requests': '1h'.repeat(5_000) },
  { 'x-ratelimit-reset-requests': '-1s' },
  { 'anthropic-ratelimit-requests-reset': 'tomorrow' },
  // This is not the limit that was reached.
  { 'x-ratelimit-remaining-tokens': '5', 'x-ratelimit-reset-tokens': '6ms', 'x-ratelimit-remaining-requests': '0' },
  { 'anthropic-ratelimit-requests-reset': '1999-01-01T00:00:00Z' },
])('takes no time from the hostile headers %#', (headers) => {
  expect(read(headers)).toEqual({ resetMs: null });
});

it.for([
  'x',
  '[',
  '['.repeat(65_536),
  '{"error":'.repeat(7_000),
  'null',
  '[]',
  '{"error":[]}',
  '{"error":{"details":{"length":3},"resets_at":"soon","resets_in_seconds":[1]}}',
  JSON.stringify({ error: { resets_in_seconds: -1, resets_at: -5, details: [null, 1, retryInfo('x'), retryInfo(5)] } }),
  'x'.repeat(10_000_000),
])('takes no time from the hostile body %#', (body) => {
  expect(read({}, body)).toEqual({ resetMs: null });
});

it('bounds every time to 24 hours', () => {
  expect(resetMs({ 'retry-after': '999999999' })).toBe(maxResetMs);
  expect(resetMs({ 'retry-after': 'Fri, 23 Nov 2096 14:00:20 GMT' })).toBe(maxResetMs);
  expect(resetMs({}, { error: { resets_in_seconds: 1e300 } })).toBe(maxResetMs);
  expect(readDuration('999999999d')).toBe(maxResetMs);
  expect(readResetText('try again in 400 days', now)).toBe(maxResetMs);
  expect(readResetText('try again at Nov 25th, 2027 5:04 PM', now)).toBe(maxResetMs);
});

it('takes any header and body without an error', () => {
  const names = fc.constantFrom(
    'retry-after',
    'retry-after-ms',
    'date',
    'x-ratelimit-reset-requests',
    'x-ratelimit-reset',
  );
  const values = fc.oneof(fc.string(), fc.array(fc.string()), fc.integer().map(String), fc.double().map(String));
  fc.assert(
    fc.property(fc.dictionary(names, values), fc.oneof(fc.json(), fc.string()), (headers, body) => {
      const ms = resetMs(headers, body);
      expect(ms === null || (Number.isInteger(ms) && (ms as number) > 0 && (ms as number) <= maxResetMs)).toBe(true);
    }),
  );
});

it('knows which responses are refusals because of a limit', () => {
  expect(read({}, null, 200)).toBeNull();
  expect(read({ 'retry-after': '5' }, null, 500)).toBeNull();
  expect(read({}, null, 503)).toBeNull();
  expect(read({ 'retry-after': '5' }, null, 503)).toEqual({ resetMs: 5_000 });
  expect(read({ 'retry-after': '5' }, null, 529)).toEqual({ resetMs: 5_000 });
  expect(read({}, { error: { type: 'insufficient_quota', code: 'insufficient_quota' } })).toBeNull();
});

it('reads the time of the clock that Codex names', () => {
  const at = new Date(now);
  at.setHours(at.getHours(), at.getMinutes() + 10, 0, 0);
  const time = `${at.getHours() % 12 || 12}:${String(at.getMinutes()).padStart(2, '0')} ${at.getHours() < 12 ? 'AM' : 'PM'}`;
  expect(readResetText(`You’ve hit your usage limit. Visit us or try again at ${time}.`, now)).toBe(600_000);
  // A time that has passed today is one of tomorrow.
  expect(readResetText(`try again at ${time}`, now + 600_001)).toBe(24 * 3_600_000 - 1);
});

// The errors of the real programs, with the fake model (docs/agents.md#limits-of-providers).
it.for([
  ['Internal error: API Error: Request rejected (429) · This request would exceed your rate limit', -32_603, null],
  [
    'You exceeded your current quota, please check your plan. Please retry in 3600s.\nSuggested retry after 3600s.',
    429,
    3_600_000,
  ],
  ['Internal error: Rate limit reached for m in organization org-1 on requests per min (RPM): Limit 3', -32_603, null],
  ['Internal error (You’ve hit your usage limit. Upgrade to Pro or try again later)', -32_603, null],
] as const)('reads the error %s', ([text, code, ms]) => {
  expect(readAgentRefusal(text, code, now)).toEqual({ resetMs: ms });
});

it('takes other errors for no limit', () => {
  for (const text of [
    'Internal error',
    'status 401 unauthorized',
    'port 4290 is in use',
    'The session s1 was not found',
  ])
    expect(readAgentRefusal(text, -32_603, now)).toBeNull();
});
