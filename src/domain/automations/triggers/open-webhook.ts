import { RateLimitedError } from '../../../common/errors.ts';
import type { Services } from '../../context.ts';
import { parseId } from '../../ids.ts';
import { secretAssociatedData } from '../../library/secrets/secrets.ts';
import type { Spending } from '../../limits/counter.ts';
import { countFailedProof } from '../../limits/failed-proofs.ts';
import { type BodySigner, createBodySigner, isWebhookSecret } from './webhook-secrets.ts';

/**
 * Reads the body of a delivery. Calls `update` with each part that arrives; keeps nothing of the body without
 * `isBuffered`.
 */
export type ReadSignedBody = (read: { update: BodySigner['update']; isBuffered: boolean }) => Promise<Uint8Array>;

/** A request to an incoming webhook. */
export interface WebhookCall {
  /** In any form, as in the path. */
  readonly automationId: string;
  /** The secrets that the caller sent in any header. Each must be correct, and so must the signature. */
  readonly secrets: readonly string[];
  /** The signature in hexadecimal, and the body that it signs; null: there is none. */
  readonly signature: { readonly value: string; readonly readBody: ReadSignedBody } | null;
  readonly address: string | null;
}

/** A webhook whose caller has proved that it has the secret. */
export interface OpenedWebhook {
  readonly automationId: string;
  /** The rest of its rate limit for this minute; null without a limit. */
  readonly spending: Spending | null;
  /** The body, if a signature was checked; otherwise it has not been read yet. */
  readonly signedBody: Uint8Array | null;
}

/**
 * Opens the webhook of an automation for a caller that sends its secret, or signs the body with it. Returns null for a
 * wrong secret or signature and if there is no such webhook; both take the same steps, so that a caller cannot
 * distinguish them. The body is read only to check a signature, after all secrets were correct. Counts wrong secrets
 * and signatures for the address, as failed tokens are, and deliveries for the automation: RATE_LIMITED. The failures
 * of an address never refuse a correct signature, because many senders share the addresses of a code host.
 */
export async function openWebhook(services: Services, call: WebhookCall): Promise<OpenedWebhook | null> {
  const { secrets, signature, address } = call;
  if (secrets.length === 0 && signature === null) return null;
  const id = parseId('automation', call.automationId);
  const found = await findSecret(services, id);
  const hasSecret = secrets.every((secret) => isWebhookSecret(services.keyring, secret, found?.hash ?? null));
  if (!hasSecret || (signature === null && id === null)) return countFailedProof(services, address);
  let signedBody: Uint8Array | null = null;
  if (signature !== null) {
    const secret = openSecret(services, id, found);
    const signer = createBodySigner(secret);
    signedBody = await signature.readBody({ update: signer.update, isBuffered: secret !== null });
    // The secret may have been replaced while the body arrived.
    const isCurrent = (await findSecret(services, id))?.hash === found?.hash;
    if (!signer.isSignature(signature.value) || !isCurrent) return countFailedProof(services, address);
  }
  if (id === null) return countFailedProof(services, address);
  const spending = await services.limits.webhook.spend(id);
  if (spending?.isAllowed === false) {
    const message = `An automation accepts ${spending.limit} webhooks a minute. Wait and try again.`;
    throw new RateLimitedError(message, spending);
  }
  return { automationId: id, spending, signedBody };
}

interface StoredSecret {
  readonly organizationId: string;
  readonly hash: string | null;
  readonly sealed: string | null;
}

async function findSecret({ store }: Services, id: string | null): Promise<StoredSecret | undefined> {
  const [found] = await store.query<StoredSecret>(
    `select a.organization_id as "organizationId", a.webhook_secret_hash as hash, a.webhook_secret_sealed as sealed from automation a join organization o on o.id = a.organization_id
      where a.id = $1 and a.deleted_at is null and o.deleted_at is null`,
    [id ?? ''],
  );
  return found;
}

function openSecret({ keyring, log }: Services, id: string | null, stored: StoredSecret | undefined): string | null {
  if (id === null || !stored?.sealed) return null;
  try {
    return keyring.open(stored.sealed, secretAssociatedData(stored.organizationId, id));
  } catch (error) {
    // Sealed with a key that is no longer configured: treated as a secret from before signatures were supported.
    log.warn({ err: error, automationId: id }, 'The secret of an incoming webhook could not be opened.');
    return null;
  }
}
