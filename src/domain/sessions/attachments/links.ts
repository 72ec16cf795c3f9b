import type { Context, Services } from '../../context.ts';
import { DomainError, notFound } from '../../errors.ts';
import { parseId } from '../../ids.ts';
import { type AttachmentRecord, attachmentColumns } from './attachments.ts';

/** How long a link is good that a door gives out. */
const linkLifetimeMs = 60 * 60_000;

/** An attachment's address below the service's own: it needs a key, or a signature. */
export function attachmentPath({ id, name }: Pick<AttachmentRecord, 'id' | 'name'>): string {
  return `/attachments/${id}/${encodeURIComponent(name)}`;
}

/** An address from which anybody may have the attachment, without a key, for an hour unless said otherwise. */
export function attachmentLink(
  context: Pick<Context, 'keyring' | 'baseUrl' | 'now'>,
  attachment: Pick<AttachmentRecord, 'id' | 'name'>,
  lifetimeMs: number = linkLifetimeMs,
): string {
  const { expires } = expiryOf(context, lifetimeMs);
  const signature = context.keyring.sign(signed({ ...attachment, expires }));
  return `${context.baseUrl}${attachmentPath(attachment)}?expires=${expires}&signature=${signature}`;
}

/** How long a signed address is good, and that we gave it out. */
export interface Signature {
  /** In seconds since 1970. */
  readonly expires: string;
  readonly signature: string;
}

/** When a signed address ends that is made now. */
export function expiryOf(context: Pick<Context, 'now'>, lifetimeMs: number): { expires: string; expiresAt: Date } {
  const seconds = Math.floor((context.now().getTime() + lifetimeMs) / 1_000);
  return { expires: String(seconds), expiresAt: new Date(seconds * 1_000) };
}

/** FORBIDDEN for a signed address that is forged or has expired; `text` is what was signed of it. */
export function requireLink(services: Pick<Services, 'keyring' | 'now'>, text: string, link: Signature): void {
  if (!services.keyring.verify(text, link.signature)) {
    throw new DomainError('FORBIDDEN', 'This link is not valid: its signature does not match its address.');
  }
  if (Number(link.expires) * 1_000 <= services.now().getTime()) {
    throw new DomainError('FORBIDDEN', 'This link has expired: ask for a new one.');
  }
}

/** What a link says: all of it comes from whoever calls. */
export interface LinkParts extends Signature {
  readonly id: string;
  readonly name: string;
}

/**
 * What a link is good for: the attachment and the key of its file. FORBIDDEN for a link that is forged or has expired;
 * NOT_FOUND when the attachment, or its organization, is gone.
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

// One line each: none of them has a line break, so that no two different links sign the same text.
function signed({ id, name, expires }: Pick<LinkParts, 'id' | 'name' | 'expires'>): string {
  return ['attachment', id, expires, encodeURIComponent(name.toWellFormed())].join('\n');
}

/** The bare id that an attachment is referred to by: an id in any form, or any address that an attachment has. */
export function parseAttachmentReference(text: string): string | null {
  const path = /^(?:https?:\/\/[^?#]*)?\/attachments\/([^/?#]+)\/[^/?#]+(?:[?#].*)?$/.exec(text.trim());
  return parseId('attachment', path?.[1] ?? text);
}
