import { parseUrl } from '../../common/parse-url.ts';
import { isWebhookAddress, literalAddress } from './addresses.ts';

/** Maximum length of the URL of an endpoint, in characters. */
export const maxUrlLength = 2_000;

/**
 * Returns the problem of an endpoint's URL; null: none without resolving its name, which happens when a delivery is
 * sent. Without `allowPrivate` it must be https.
 */
export function webhookUrlProblem(text: string, allowPrivate: boolean): string | null {
  const expected = '"url" must be an absolute address that begins with https://';
  if (text.length > maxUrlLength) return `"url" must be at most ${maxUrlLength} characters, but has ${text.length}.`;
  const url = parseUrl(text);
  if (!url || !/^https?:$/.test(url.protocol)) return `${expected}.`;
  if (url.protocol === 'http:' && !allowPrivate) {
    return `${expected}: this service sends nothing unencrypted (WEBHOOK_ALLOW_PRIVATE).`;
  }
  if (url.username !== '' || url.password !== '') return '"url" must have no user and no password in it.';
  if (url.hash !== '') return '"url" must have no fragment.';
  const address = literalAddress(url.hostname);
  const isRefused = address !== null && !isWebhookAddress(address, allowPrivate);
  return isRefused ? '"url" must have an address that webhooks may be sent to, and its own is not a public one.' : null;
}
