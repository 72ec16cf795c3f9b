import { parseUrl } from '../../common/parse-url.ts';
import { ForgeError } from '../interface/errors.ts';

/** A connection with a token. */
export interface TokenConnection<Kind extends string> {
  readonly kind: Kind;
  readonly host: string;
  readonly token: string;
  readonly webhookSecret: string | null;
}

/** The address and the secrets of a connection, opened. `host` is a host name, or a base URL with a port or a path. */
export type ForgeConnection =
  | {
      readonly kind: 'github_app';
      readonly host: string;
      readonly appId: string;
      /** PEM, PKCS#1 or PKCS#8. */
      readonly privateKey: string;
      /** Null: the App's only installation. */
      readonly installationId: string | null;
      readonly webhookSecret: string | null;
    }
  | TokenConnection<'github_token'>
  | TokenConnection<'gitlab_token'>
  | TokenConnection<'gitea_token'>
  | {
      readonly kind: 'git_https';
      readonly host: string;
      /** Null: without a credential, for public repositories. */
      readonly username: string | null;
      readonly password: string | null;
    };

/** The addresses of a forge, without a slash at the end. */
export interface ForgeAddress {
  readonly host: string;
  readonly baseUrl: string;
}

/** Reads the host of a connection. Throws INVALID_CONNECTION with a sentence for the person who entered it. */
export function readForgeAddress(host: string, allowHttp: boolean): ForgeAddress {
  const text = host.trim();
  const url = text.length > 500 ? null : parseUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`);
  const refuse = (message: string) => new ForgeError('INVALID_CONNECTION', message);
  // Names end up in policies of pages, where an asterisk has a meaning.
  if (!url || !/^https?:$/.test(url.protocol) || !/^(?:\[[\da-f:.]+\]|[a-z\d_][\w.-]*)$/.test(url.hostname)) {
    throw refuse('The host must be a host name such as "github.com" or a base URL that begins with https://.');
  }
  if (url.username !== '' || url.password !== '') throw refuse('The host must not contain a user name or a password.');
  if (url.search !== '' || url.hash !== '') throw refuse('The host must not contain a query or a fragment.');
  if (url.protocol === 'http:' && !allowHttp) {
    throw refuse('This service connects to forges with https only. Set GIT_ALLOW_HTTP=true to allow http.');
  }
  return { host: url.host, baseUrl: `${url.origin}${url.pathname.replace(/\/+$/, '')}` };
}

/** Returns the address for git of a path that has been checked, without a credential. The host has been stored, so http is allowed. */
export function cloneUrlOf(host: string, path: string): string {
  return `${readForgeAddress(host, true).baseUrl}/${path}.git`;
}

/** Checks a token or a password: one line of visible ASCII, as headers need it. Throws INVALID_CONNECTION. */
export function requireSecret(secret: string, name: string): string {
  const text = secret.trim();
  if (!/^[\x21-\x7e]{1,4096}$/.test(text)) {
    throw new ForgeError('INVALID_CONNECTION', `The ${name} must be one line of letters, digits and punctuation.`);
  }
  return text;
}
