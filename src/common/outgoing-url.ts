import { isAllowedAddress, literalAddress } from './addresses.ts';
import { parseUrl } from './parse-url.ts';

/** Maximum length of a URL to which the service sends requests of users, in characters. */
export const maxUrlLength = 2_000;

/** Options of {@link outgoingUrlProblem}. */
interface UrlRules {
  /** The name of the input, for the messages. */
  readonly name: string;
  /** The variable with which an operator allows private addresses and http. */
  readonly variable: string;
  readonly allowPrivate: boolean;
}

/**
 * Returns the problem of a URL that a user gave for requests of the service; null: none without resolving its name, which
 * happens at each request. Without `allowPrivate` it must be https. The message never repeats the URL, which may contain
 * secrets.
 */
export function outgoingUrlProblem(text: string, { name, variable, allowPrivate }: UrlRules): string | null {
  const expected = `"${name}" must be an absolute address that begins with https://`;
  if (text.length > maxUrlLength)
    return `"${name}" must be at most ${maxUrlLength} characters, but has ${text.length}.`;
  const url = parseUrl(text);
  if (!url || !/^https?:$/.test(url.protocol)) return `${expected}.`;
  if (url.protocol === 'http:' && !allowPrivate) {
    return `${expected}: this service sends nothing unencrypted (${variable}).`;
  }
  if (url.username !== '' || url.password !== '') return `"${name}" must not contain a user name or a password.`;
  if (url.hash !== '') return `"${name}" must not contain a fragment.`;
  const address = literalAddress(url.hostname);
  if (address === null || isAllowedAddress(address, allowPrivate)) return null;
  return `"${name}" must have an address that the service may connect to, but its address is not public.`;
}
