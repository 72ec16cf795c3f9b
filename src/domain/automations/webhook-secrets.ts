import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Keyring } from '../../store/cipher.ts';

/** A secret for the callers of an incoming webhook, and what is kept of it. */
export interface NewWebhookSecret {
  readonly secret: string;
  readonly hash: string;
}

/**
 * The hash is of the secret alone: 256 random bits cannot be guessed from it, and it outlives every rotation of SECRET_KEY,
 * also where nobody calls the webhook meanwhile.
 */
export function newWebhookSecret(): NewWebhookSecret {
  const secret = `whsec_${randomBytes(32).toString('base64url')}`;
  return { secret, hash: hashOf(secret) };
}

/**
 * Whether a secret is the one of a hash, in a time that tells nothing of either; null in place of the hash takes as long and
 * is never it. Hashes of before are keyed with SECRET_KEY, or the key before it.
 */
export function isWebhookSecret(keyring: Keyring, secret: string, hash: string | null): boolean {
  const candidates = [hashOf(secret), ...keyring.tokenHashes(secret)];
  const found = candidates.filter((candidate) => isSame(candidate, hash ?? nobodys));
  return found.length > 0 && hash !== null;
}

const hashOf = (secret: string) => `sha256:${createHash('sha256').update(secret).digest('hex')}`;
const nobodys = hashOf(randomBytes(32).toString('hex'));

function isSame(one: string, other: string): boolean {
  const [a, b] = [one, other].map((each) => createHash('sha256').update(each).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}
