import type { IncomingHttpHeaders } from 'node:http';

/** The longest time to a reset that is believed, in ms. */
export const maxResetMs = 24 * 3_600_000;

/** A refusal of a provider because a limit is reached. */
export interface QuotaRefusal {
  /** The time from the refusal to the reset of the limit, at most {@link maxResetMs}; null: unknown. */
  readonly resetMs: number | null;
}

/** The response of a provider, or of an agent that passes one on. */
export interface RefusedResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The beginning of its body; null: it is not text. */
  readonly text: string | null;
}

/**
 * Reads a refusal because of a limit; null for another error. 429 is one, unless the account has no credit, which no wait
 * changes. 503 and 529 (overloaded) are one only with the header `retry-after`. Never throws. `nowMs`: the time of this
 * process, for a response without a date.
 */
export function readRefusal({ status, headers, text }: RefusedResponse, nowMs: number): QuotaRefusal | null {
  const isOverloaded = (status === 503 || status === 529) && headers['retry-after'] !== undefined;
  if (status !== 429 && !isOverloaded) return null;
  const error = errorOf(text);
  if (error?.code === 'insufficient_quota' || error?.type === 'insufficient_quota') return null;
  // Times are relative to the provider's own clock.
  const dateMs = Date.parse(textOf(headers.date) ?? '');
  const clockMs = Number.isNaN(dateMs) ? nowMs : dateMs;
  const resetMs =
    readNumber(headers['retry-after-ms'], 1) ??
    readRetryAfter(headers['retry-after'], clockMs) ??
    readBody(error, clockMs) ??
    readLimits(headers, clockMs) ??
    readResetText(textOf(error?.message) ?? '', nowMs);
  return { resetMs };
}

/**
 * Returns the time to a reset that a sentence names, such as "Please try again in 1m30s" or "try again at 5:04 PM", at most
 * {@link maxResetMs}; null: none. A time of the clock is read in the time zone of this process, which agents have too.
 */
export function readResetText(text: string, nowMs: number): number | null {
  const found = /\b(?:try again|retry|resets?) (?:in|after) (\d[\w.]{0,30})(?: (second|minute|hour|day)s?\b)?/i.exec(
    text,
  );
  if (!found?.[1]) return readClock(text, nowMs);
  const [, amount, word = ''] = found;
  return readDuration(amount.replace(/\.+$/, '') + word.charAt(0).toLowerCase());
}

// As Codex writes it; another day has its date: "try again at Nov 25th, 2026 5:04 PM".
function readClock(text: string, nowMs: number): number | null {
  const found = /\btry again at (?:([A-Z][a-z]{2} \d{1,2})(?:st|nd|rd|th), (\d{4}) )?(\d{1,2}:\d\d [AP]M)\b/.exec(text);
  if (!found) return null;
  const [, day, year, time] = found;
  const now = new Date(nowMs);
  const at = new Date(`${day === undefined ? now.toDateString() : `${day}, ${year}`} ${time}`);
  if (day === undefined && at.getTime() <= nowMs) at.setDate(at.getDate() + 1);
  return bounded(at.getTime() - nowMs);
}

const units = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const;
const durationPattern =
  /^(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m(?!s))?(?:(\d{1,9}(?:\.\d{1,12})?)s)?(?:(\d{1,9}(?:\.\d{1,12})?)ms)?$/;

/** Reads a duration such as `1m30s`, `6ms` or `34.07s`, in ms; null if it is none or not in the future. */
export function readDuration(value: unknown): number | null {
  const found = typeof value === 'string' && value !== '' ? durationPattern.exec(value.trim()) : null;
  if (!found) return null;
  const amounts = found.slice(1).map((amount) => Number(amount ?? 0));
  const [d = 0, h = 0, m = 0, s = 0, ms = 0] = amounts;
  return bounded(d * units.d + h * units.h + m * units.m + s * units.s + ms);
}

function bounded(ms: number): number | null {
  return Number.isFinite(ms) && ms > 0 ? Math.min(Math.ceil(ms), maxResetMs) : null;
}

function readNumber(value: unknown, factor: number): number | null {
  const isNumber = typeof value === 'number' || (typeof value === 'string' && /^\d{1,12}(\.\d{1,12})?$/.test(value));
  return isNumber ? bounded(Number(value) * factor) : null;
}

function readRetryAfter(value: unknown, clockMs: number): number | null {
  return readNumber(value, units.s) ?? readDate(value, clockMs);
}

// An HTTP date, or a date of ISO 8601. `Date.parse` also accepts many other texts.
const datePattern =
  /^(\w{3,9}, \d\d[ -]\w{3}[ -]\d{2,4} \d\d:\d\d:\d\d GMT|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d))$/;

function readDate(value: unknown, clockMs: number): number | null {
  return typeof value === 'string' && datePattern.test(value) ? bounded(Date.parse(value) - clockMs) : null;
}

/** Seconds or milliseconds since 1970. */
function readEpoch(value: unknown, clockMs: number): number | null {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || number < 1e9) return null;
  return bounded((number > 1e11 ? number : number * 1_000) - clockMs);
}

// The limits of OpenAI and of services that copy its API, and those of Anthropic. Each limit has the time at which it is
// full again, so only those without anything left count, or else those of which the provider does not say what is left.
function readLimits(headers: IncomingHttpHeaders, clockMs: number): number | null {
  const limits = Object.entries(headers).flatMap(([name, value]) => {
    const ours = /^(x-ratelimit)-reset(-[\w-]{1,40})?$|^(anthropic-ratelimit-[\w-]{1,40})-reset$/.exec(name);
    if (!ours) return [];
    const [, openai, limit = '', anthropic] = ours;
    const remaining = headers[openai ? `${openai}-remaining${limit}` : `${anthropic}-remaining`];
    const ms =
      readDuration(value) ?? readEpoch(value, clockMs) ?? readNumber(value, units.s) ?? readDate(value, clockMs);
    return ms === null ? [] : [{ ms, remaining }];
  });
  const timesOf = (left: '0' | undefined) => limits.flatMap(({ ms, remaining }) => (remaining === left ? [ms] : []));
  const empty = timesOf('0');
  const times = empty.length > 0 ? empty : timesOf(undefined);
  return times.length === 0 ? null : Math.max(...times);
}

// The usage limits of Codex (`resets_in_seconds`, `resets_at`), and Google's RetryInfo.
function readBody(error: Json | null, clockMs: number): number | null {
  if (error === null) return null;
  const { details } = error;
  const infos = Array.isArray(details) ? details.slice(0, 20).map(object) : [];
  const info = infos.find(
    (each) => typeof each?.['@type'] === 'string' && each['@type'].endsWith('google.rpc.RetryInfo'),
  );
  return (
    readNumber(error.resets_in_seconds, units.s) ??
    readEpoch(error.resets_at, clockMs) ??
    readDuration(info?.retryDelay)
  );
}

type Json = Readonly<Record<string, unknown>>;

/** The `error` of a body, which Google may put into a list. */
function errorOf(text: string | null): Json | null {
  if (text === null) return null;
  try {
    const body: unknown = JSON.parse(text);
    return object(object(Array.isArray(body) ? body[0] : body)?.error);
  } catch {
    return null;
  }
}

function object(value: unknown): Json | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
