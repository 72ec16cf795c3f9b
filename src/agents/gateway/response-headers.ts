import type { IncomingMessage } from 'node:http';

/**
 * Headers of a response that an agent receives. A list of what is passed on: the others name the key's owner, lead elsewhere,
 * set cookies, or belong to the connection.
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

/** Rate limits, the provider's own figures, and the plan's usage that Codex shows. */
const families = /^(anthropic-(ratelimit|priority|fast)-|openai-(processing-ms|version)$|x-ratelimit-|x-codex-)/;

/**
 * The response headers to pass on. A header that holds the provider's key in any form is left out; `mask` replaces the key in
 * a text.
 */
export function responseHeaders(response: IncomingMessage, mask: (text: string) => string): Record<string, string> {
  const forwarded = Object.entries(response.headers).flatMap(([name, value]) => {
    if (typeof value !== 'string' || !(headers.has(name) || families.test(name))) return [];
    // Characters that Node would refuse to send would end the worker.
    const isClean = /^[\t\x20-\x7e]*$/.test(value) && mask(value) === value && mask(name) === name;
    return isClean ? [[name, value] as const] : [];
  });
  return Object.fromEntries(forwarded);
}
