import { findViewers } from '../../../auth/authenticate.ts';
import { DomainError, notFound } from '../../../common/errors.ts';
import type { Context, Services } from '../../context.ts';
import { parseId } from '../../ids.ts';
import { type AttachmentRecord, attachmentColumns } from './attachments.ts';

/** Lifetime of the links that the APIs return. */
const linkLifetimeMs = 60 * 60_000;

/** Returns an attachment's path below the service's base URL: it needs a key, or a signature. */
export function attachmentPath({ id, name }: Pick<AttachmentRecord, 'id' | 'name'>): string {
  return `/attachments/${id}/${encodeURIComponent(name)}`;
}

/** Creates a URL from which anyone can download the attachment without a key, by default for an hour. */
export function attachmentLink(
  context: Pick<Context, 'keyring' | 'baseUrl' | 'now'>,
  attachment: Pick<AttachmentRecord, 'id' | 'name'>,
  lifetimeMs: number = linkLifetimeMs,
): string {
  const { expires } = expiryOf(context, lifetimeMs);
  const signature = context.keyring.sign(signed({ ...attachment, expires }));
  return `${context.baseUrl}${attachmentPath(attachment)}?expires=${expires}&signature=${signature}`;
}

/** The expiry of a signed URL, and the proof that the service created it. */
export interface Signature {
  /** In seconds since 1970. */
  readonly expires: string;
  readonly signature: string;
}

/** Returns the expiry of a signed URL that is created now. */
export function expiryOf(context: Pick<Context, 'now'>, lifetimeMs: number): { expires: string; expiresAt: Date } {
  const seconds = Math.floor((context.now().getTime() + lifetimeMs) / 1_000);
  return { expires: String(seconds), expiresAt: new Date(seconds * 1_000) };
}

/** Throws FORBIDDEN for a signed URL that is forged or has expired; `text` is its signed text. */
export function requireLink(services: Pick<Services, 'keyring' | 'now'>, text: string, link: Signature): void {
  if (!services.keyring.verify(text, link.signature)) {
    throw new DomainError('FORBIDDEN', 'This link is not valid: its signature does not match its address.');
  }
  if (Number(link.expires) * 1_000 <= services.now().getTime()) {
    throw new DomainError('FORBIDDEN', 'This link has expired. Request a new one.');
  }
}

/** A signed URL that acts in the name of the key that requested it. All of it comes from the caller and is untrusted. */
export interface KeySignature extends Signature {
  /** Empty for a user who is signed in to the console without a key. */
  readonly apiKeyId: string;
  /** Empty for a key that the console does not use. */
  readonly consoleSessionId: string;
}

/**
 * Returns the context in whose name a signed URL is used; `text` is its signed text. Throws FORBIDDEN for a URL that is forged or has
 * expired; UNAUTHENTICATED if the key that requested it has ended, or may not be used from the caller's address.
 */
export async function openKeyLink(
  services: Services,
  text: string,
  link: KeySignature,
  address: string | null,
): Promise<Context> {
  requireLink(services, text, link);
  const { apiKeyId, consoleSessionId } = link;
  const use = { apiKeyId: apiKeyId || null, address, consoleSessionId: consoleSessionId || undefined };
  const [viewer] = await findViewers(services, [use]);
  if (!viewer) throw new DomainError('UNAUTHENTICATED', 'The key that requested this link is no longer valid.');
  return { ...services, viewer, address };
}

/** The parts of a link. All of them come from the caller and are untrusted. */
export interface LinkParts extends Signature {
  readonly id: string;
  readonly name: string;
}

/**
 * Returns the target of a link: the attachment and the key of its file. Throws FORBIDDEN for a link that is forged or
 * has expired; NOT_FOUND if the attachment, or its organization, is gone.
 */
export async function openAttachmentLink(
  services: Pick<Services, 'keyring' | 'store' | 'now'>,
  link: LinkParts,
): Promise<{ attachment: AttachmentRecord; storageKey: string }> {
  requireLink(services, signed(link), link);
  const [row] = await services.store.query<AttachmentRecord & { storageKey: string }>(
    `select ${attachmentColumns}, a.storage_key as "storageKey" from attachment a
       join organization o on o.id = a.organization_id where a.id = $1 and o.deleted_at is null`,
    [link.id],
  );
  if (!row) throw notFound('attachment');
  const { storageKey, ...attachment } = row;
  return { attachment, storageKey };
}

// One line per part: no part contains a line break, so that no two different links have the same signed text.
function signed({ id, name, expires }: Pick<LinkParts, 'id' | 'name' | 'expires'>): string {
  return ['attachment', id, expires, encodeURIComponent(name.toWellFormed())].join('\n');
}

/** Returns the unprefixed id in a reference to an attachment: an id in any form, or any URL of an attachment. */
export function parseAttachmentReference(text: string): string | null {
  const path = /^(?:https?:\/\/[^?#]*)?\/attachments\/([^/?#]+)\/[^/?#]+(?:[?#].*)?$/.exec(text.trim());
  return parseId('attachment', path?.[1] ?? text);
}
