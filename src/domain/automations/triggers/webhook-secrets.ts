import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Keyring } from '../../../store/cipher.ts';
import { secretAssociatedData } from '../../library/secrets/secrets.ts';

/** A secret for the callers of an incoming webhook, and its stored forms. */
export interface NewWebhookSecret {
  readonly secret: string;
  /** Sufficient to check a secret that a caller sends. */
  readonly hash: string;
  /** Needed to check a signature that a caller made with it; null for secrets from before signatures were supported. */
  readonly sealed: string | null;
}

/** The automation of a webhook, by unprefixed ids. */
export interface WebhookOwner {
  readonly id: string;
  readonly organizationId: string;
}

/**
 * Creates a secret of 256 random bits, which cannot be guessed from its hash. The hash stays valid after every rotation
 * of SECRET_KEY, even if the webhook is not called meanwhile; the sealed form is sealed again like all secrets.
 */
export function newWebhookSecret({ keyring }: { readonly keyring: Keyring }, owner: WebhookOwner): NewWebhookSecret {
  const secret = `whsec_${randomBytes(32).toString('base64url')}`;
  const sealed = keyring.seal(secret, secretAssociatedData(owner.organizationId, owner.id));
  return { secret, hash: hashOf(secret), sealed };
}

/**
 * Compares a secret with a hash in constant time; null instead of the hash takes as long and never matches. Old hashes
 * are keyed with SECRET_KEY, or the key before it.
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

/** Returns a signer with HMAC-SHA256; null instead of the secret takes as long, and no value is its signature. */
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
