import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Keyring } from '../../../store/cipher.ts';
import { secretAssociatedData } from '../../library/secrets/secrets.ts';

/** A secret for the callers of an incoming webhook, and what is kept of it. */
export interface NewWebhookSecret {
  readonly secret: string;
  /** Enough to check a secret that a caller sends. */
  readonly hash: string;
  /** Needed to check a signature that a caller made with it; null for secrets of before signatures were checked. */
  readonly sealed: string | null;
}

/** The automation whose webhook it is, by bare ids. */
export interface WebhookOwner {
  readonly id: string;
  readonly organizationId: string;
}

/**
 * Makes a secret of 256 random bits, which cannot be guessed from its hash. The hash outlives every rotation of SECRET_KEY, also
 * where nobody calls the webhook meanwhile; the sealed form is sealed again as all secrets are.
 */
export function newWebhookSecret({ keyring }: { readonly keyring: Keyring }, owner: WebhookOwner): NewWebhookSecret {
  const secret = `whsec_${randomBytes(32).toString('base64url')}`;
  const sealed = keyring.seal(secret, secretAssociatedData(owner.organizationId, owner.id));
  return { secret, hash: hashOf(secret), sealed };
}

/**
 * Whether a secret is the one of a hash, in a time that tells nothing of either; null in place of the hash takes as long and
 * is never it. Hashes of before are keyed with SECRET_KEY, or the key before it.
 */
export function isWebhookSecret(keyring: Keyring, secret: string, hash: string | null): boolean {
  const candidates = [hashOf(secret), ...keyring.tokenHashes(secret)];
  const found = candidates.filter((candidate) => isSame(candidate, hash ?? dummyHash));
  return found.length > 0 && hash !== null;
}

/** The signature of a body, computed while the body arrives. */
export interface BodySigner {
  update(part: Uint8Array): void;
  /** True if a value, in hexadecimal of either case, is the signature of all parts; compared in constant time. Call it once. */
  isSignature(value: string): boolean;
}

/** Returns a signer with HMAC-SHA256; null in place of the secret takes as long, and no value is its signature. */
export function createBodySigner(secret: string | null): BodySigner {
  const hmac = createHmac('sha256', secret ?? dummyHash);
  return {
    update: (part) => void hmac.update(part),
    isSignature: (value) => isSame(value.toLowerCase(), hmac.digest('hex')) && secret !== null,
  };
}

const hashOf = (secret: string) => `sha256:${createHash('sha256').update(secret).digest('hex')}`;
const dummyHash = hashOf(randomBytes(32).toString('hex'));

function isSame(one: string, other: string): boolean {
  const [a, b] = [one, other].map((each) => createHash('sha256').update(each).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}
