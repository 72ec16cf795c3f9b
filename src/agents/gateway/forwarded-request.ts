import type { IncomingHttpHeaders } from 'node:http';

/**
 * The request headers that the provider receives. This is an allowlist: other headers choose who pays (organization,
 * project), another method, or another host.
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

/** Headers in which the providers' own programs identify themselves. */
const programHeaders = /^x-(stainless|codex|claude-code)-[a-z0-9-]+$/;

/** Google accepts methods and headers in a query too. */
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

/** Filters an agent's headers. Keys are never passed on. */
export function forwardedHeaders(input: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(input).filter(([name]) => headers.has(name) || programHeaders.test(name)));
}

/** Response formats whose usage can be read. Google has others, such as `proto`. */
const formats = ['json', 'sse'];

/** Filters an agent's query; returns it with its question mark, or an empty text. Keys are never passed on. */
export function forwardedQuery(input: URLSearchParams): string {
  const forwarded = new URLSearchParams([...input].filter(isForwarded));
  return forwarded.size === 0 ? '' : `?${forwarded}`;
}

function isForwarded([name, value]: readonly [string, string]): boolean {
  return parameters.has(name) && (name !== 'alt' || formats.includes(value));
}
