import { randomBytes } from 'node:crypto';
import type { ApiKeyKind } from './viewer.ts';

/** The prefix of a token, by kind (docs/security.md#keys). */
export const tokenPrefix = {
  PERSONAL: 'apk_user_',
  SERVICE: 'apk_',
  PERSONAL_ACCESS_TOKEN: 'cog_',
  SERVICE_USER: 'cog_',
} as const satisfies Record<ApiKeyKind, string>;

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';

/** Creates a token: the kind's prefix and 256 random bits in base32. The service never stores it. */
export function newToken(kind: ApiKeyKind): string {
  return tokenPrefix[kind] + randomText();
}

/**
 * Creates the code that a browser or a link signs in to the console with: 256 random bits in base32, without a prefix.
 */
export const newConsoleCode = (): string => randomText();

function randomText(): string {
  let bits = 0n;
  for (const byte of randomBytes(32)) bits = (bits << 8n) | BigInt(byte);
  let text = '';
  for (let i = 0; i < 52; i++) {
    text = alphabet.charAt(Number(bits & 31n)) + text;
    bits >>= 5n;
  }
  return text;
}

/** The part of a token that may be shown and logged: its prefix and four characters. */
export function displayToken(token: string): string {
  const prefix = token.startsWith('apk_user_') ? 'apk_user_' : token.slice(0, 4);
  return `${prefix}${token.slice(prefix.length, prefix.length + 4)}…`;
}

/**
 * Reads the token in an `Authorization` header, or in `connectionParams.authorization`, where the scheme is optional.
 * Returns null if there is none or its format is invalid. The characters are checked so that nothing unexpected reaches
 * a header or a log.
 */
export function readToken(authorization: string | null | undefined, isSchemeOptional: boolean): string | null {
  const match = /^(?:bearer +)?([A-Za-z0-9_]{8,200})$/i.exec(authorization?.trim() ?? '');
  if (!match) return null;
  return isSchemeOptional || /^bearer /i.test(authorization as string) ? (match[1] as string) : null;
}
