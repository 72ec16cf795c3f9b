import { permissionFor } from '../../../auth/permissions.ts';
import { DomainError } from '../../../common/errors.ts';
import type { Context, Services } from '../../context.ts';
import { type CreateOptions, claimIdempotencyKey, findReplay } from '../../idempotency.ts';
import { chooseOrganization } from '../../identity/organizations/use-organization.ts';
import { newId } from '../../ids.ts';
import type { AttachmentRecord } from './attachments.ts';
import { type CreateAttachmentInput, createAttachment } from './create-attachment.ts';
import { expiryOf, type KeySignature, openKeyLink } from './links.ts';

/** Lifetime of an upload URL: a browser requests one when it already has the file. */
const uploadLifetimeMs = 10 * 60_000;
/** The path of all upload URLs. No attachment has this id. */
export const uploadsPath = '/attachments/uploads';
const operation = 'uploadAttachment';

/** A URL that accepts one file, without a key. */
export interface AttachmentUploadRecord {
  readonly url: string;
  readonly expiresAt: Date;
  /** Maximum size of the file. */
  readonly maxBytes: number;
}

/** The parts of the URL. All of them come from the caller and are untrusted. */
export interface UploadParts extends KeySignature {
  readonly id: string;
  readonly organizationId: string;
}

/**
 * Creates a URL to which anyone may upload one file in the viewer's name, for ten minutes and no longer than the
 * viewer's key is valid. Without an organization, the one that the key is bound to. Calls with the same idempotency key
 * return URLs for the same single file, each valid for ten minutes. Throws ORGANIZATION_NOT_USABLE, FORBIDDEN,
 * INVALID_INPUT.
 */
export async function createAttachmentUpload(
  context: Context,
  organization: string | null | undefined,
  options: CreateOptions = {},
): Promise<AttachmentUploadRecord> {
  const { viewer, store, keyring, baseUrl, maxAttachmentBytes: maxBytes } = context;
  const { id: organizationId } = await chooseOrganization(context, organization, permissionFor.uploadAttachment);
  const { expires, expiresAt } = expiryOf(context, uploadLifetimeMs);
  const { apiKeyId, consoleSessionId = '' } = viewer;
  const claim = { scope: organizationId, operation: 'createAttachmentUpload', input: null, resultId: newId() };
  const replay =
    options.idempotencyKey == null ? null : await store.transact((tx) => findReplay(context, tx, options, claim));
  const parts = { id: replay ?? claim.resultId, organizationId, apiKeyId: apiKeyId ?? '', consoleSessionId, expires };
  const { id, ...named } = parts;
  const query = new URLSearchParams({ ...named, signature: keyring.sign(signed(parts)) });
  return { url: `${baseUrl}${uploadsPath}/${id}?${query}`, expiresAt, maxBytes };
}

/**
 * Returns the context in whose name an upload URL is used. Throws FORBIDDEN for a URL that is forged, has expired or
 * has been used; UNAUTHENTICATED if the key that requested it has ended, or may not be used from the sender's address.
 */
export async function openAttachmentUpload(
  services: Services,
  parts: UploadParts,
  address: string | null,
): Promise<Context> {
  const context = await openKeyLink(services, signed(parts), parts, address);
  const { principal } = context.viewer;
  const rows = await services.store.query(
    'select 1 from idempotency_key where organization_id = $1 and principal = $2 and operation = $3 and key = $4',
    [parts.organizationId, `${principal.type}:${principal.id}`, operation, parts.id],
  );
  if (rows.length > 0) throw used();
  return context;
}

/**
 * Stores the file that was sent to an upload URL; of two concurrent uploads, one. Throws FORBIDDEN; the errors of
 * {@link createAttachment}.
 */
export function uploadAttachment(
  context: Context,
  { id, organizationId }: Pick<UploadParts, 'id' | 'organizationId'>,
  file: Omit<CreateAttachmentInput, 'organizationId'>,
): Promise<AttachmentRecord> {
  return createAttachment(context, { ...file, organizationId }, async (tx, attachment) => {
    const claim = { organizationId, operation, key: id, input: null, resultId: attachment.id };
    if ((await claimIdempotencyKey(context, tx, claim)).replay !== null) throw used();
  });
}

const used = () => new DomainError('FORBIDDEN', 'This upload link was already used. Request a new one.');

// One line per part, as for links. The first line distinguishes the kinds of signed texts.
function signed(parts: Omit<UploadParts, 'signature'>): string {
  const { id, organizationId, apiKeyId, consoleSessionId, expires } = parts;
  return ['attachment-upload', id, organizationId, apiKeyId, consoleSessionId, expires]
    .map(encodeURIComponent)
    .join('\n');
}
