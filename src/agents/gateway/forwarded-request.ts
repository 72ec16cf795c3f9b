import type { IncomingHttpHeaders } from 'node:http';

/**
 * The headers of an agent that a provider is given. A list of what is given, not of what is kept back: others choose for whom
 * the key's owner pays (organization, project), another method, or another host.
 */
const headers = new Set([
  'accept',
  'accept-language',
  'anthropic-beta',
  'anthropic-dangerous-direct-browser-access',
  'anthropic-version',
  'content-encoding',
  'content-type',
  'http-referer',
  'idempotency-key',
  'openai-beta',
  'originator',
  'session_id',
  'user-agent',
  'version',
  'x-app',
  'x-goog-api-client',
  'x-title',
]);

/** What the makers' own programs tell of themselves. */
const programHeaders = /^x-(stainless|codex|claude-code)-[a-z0-9-]+$/;

/** Google takes methods and headers in a query too. */
const parameters = new Set([
  'after_id',
  'alt',
  'api-version',
  'before_id',
  'beta',
  'client_version',
  'limit',
  'pageSize',
  'pageToken',
]);

/** Of an agent's headers those that are passed on. No key is among them. */
export function forwardedHeaders(input: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(input).filter(([name]) => headers.has(name) || programHeaders.test(name)));
}

/** Formats of a response that can be read for usage. Google has others, such as `proto`. */
const formats = ['json', 'sse'];

/** Of an agent's query what is passed on, with its question mark; empty: nothing. No key is in it. */
export function forwardedQuery(input: URLSearchParams): string {
  const forwarded = new URLSearchParams([...input].filter(isForwarded));
  return forwarded.size === 0 ? '' : `?${forwarded}`;
}

function isForwarded([name, value]: readonly [string, string]): boolean {
  return parameters.has(name) && (name !== 'alt' || formats.includes(value));
}
