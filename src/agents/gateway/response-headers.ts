import type { IncomingMessage } from 'node:http';

/**
 * The response headers that an agent receives. This is an allowlist: other headers name the key's owner, lead
 * elsewhere, set cookies, or belong to the connection.
 */
const headers = new Set([
  'cache-control',
  'content-encoding',
  'content-language',
  'content-type',
  'etag',
  'request-id',
  'retry-after',
  'retry-after-ms',
  'server-timing',
  'x-request-id',
  'x-should-retry',
]);

/** Rate limits, the provider's own metrics, and the plan usage that Codex shows. */
const families = /^(anthropic-(ratelimit|priority|fast)-|openai-(processing-ms|version)$|x-ratelimit-|x-codex-)/;

/**
 * The response headers to pass on. A header that contains the provider's key in any form is dropped; `mask` replaces
 * the key in a text.
 */
export function responseHeaders(response: IncomingMessage, mask: (text: string) => string): Record<string, string> {
  const forwarded = Object.entries(response.headers).flatMap(([name, value]) => {
    if (typeof value !== 'string' || !(headers.has(name) || families.test(name))) return [];
    // Node would refuse other characters, and its error would end the worker.
    const isClean = /^[\t\x20-\x7e]*$/.test(value) && mask(value) === value && mask(name) === name;
    return isClean ? [[name, value] as const] : [];
  });
  return Object.fromEntries(forwarded);
}
