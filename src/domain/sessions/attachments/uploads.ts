import { findViewers } from '../../../auth/authenticate.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import type { Context, Services } from '../../context.ts';
import { DomainError } from '../../errors.ts';
import { type CreateOptions, claimIdempotencyKey, findReplay } from '../../idempotency.ts';
import { chooseOrganization } from '../../identity/organizations/use-organization.ts';
import { newId } from '../../ids.ts';
import type { AttachmentRecord } from './attachments.ts';
import { type CreateAttachmentInput, createAttachment } from './create-attachment.ts';
import { expiryOf, requireLink, type Signature } from './links.ts';

/** How long an address is good that takes a file: a browser asks for one when it has the file already. */
const uploadLifetimeMs = 10 * 60_000;
/** Below which all such addresses are. No attachment has this for an id. */
export const uploadsPath = '/attachments/uploads';
const operation = 'uploadAttachment';

/** An address that takes one file, without a key. */
export interface AttachmentUploadRecord {
  readonly url: string;
  readonly expiresAt: Date;
  /** The largest file that it takes. */
  readonly maxBytes: number;
}

/** What the address says: all of it comes from whoever calls. */
export interface UploadParts extends Signature {
  readonly id: string;
  readonly organizationId: string;
  readonly apiKeyId: string;
  /** Empty for a key that is not used by the console. */
  readonly consoleSessionId: string;
}

/**
 * Gives an address to which whoever has it may upload one file, in the viewer's name, for ten minutes and no longer than the
 * viewer's key is good. The organization that the key is bound to when none is named. Under the same idempotency key the
 * address takes the same one file, and is good for ten minutes from each call. ORGANIZATION_NOT_USABLE, FORBIDDEN, INVALID_INPUT.
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
 * In whose name such an address is used. FORBIDDEN for one that is forged, has expired or has taken a file;
 * UNAUTHENTICATED when the key that asked for it has ended, or may not be used from where the file comes.
 */
export async function openAttachmentUpload(
  services: Services,
  parts: UploadParts,
  address: string | null,
): Promise<Context> {
  requireLink(services, signed(parts), parts);
  const { apiKeyId, consoleSessionId } = parts;
  const use = { apiKeyId, address, consoleSessionId: consoleSessionId || undefined };
  const [viewer] = await findViewers(services, [use]);
  if (!viewer) throw new DomainError('UNAUTHENTICATED', 'The key that asked for this address is no longer valid.');
  const rows = await services.store.query(
    'select 1 from idempotency_key where organization_id = $1 and principal = $2 and operation = $3 and key = $4',
    [parts.organizationId, `${viewer.principal.type}:${viewer.principal.id}`, operation, parts.id],
  );
  if (rows.length > 0) throw used();
  return { ...services, viewer, address };
}

/** Keeps the file that came to an address; of two that come at once, one. FORBIDDEN; the errors of {@link createAttachment}. */
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

const used = () => new DomainError('FORBIDDEN', 'This address has taken a file already: ask for a new one.');

// One line each, as for links: what is of another kind begins with another line.
function signed(parts: Omit<UploadParts, 'signature'>): string {
  const { id, organizationId, apiKeyId, consoleSessionId, expires } = parts;
  return ['attachment-upload', id, organizationId, apiKeyId, consoleSessionId, expires]
    .map(encodeURIComponent)
    .join('\n');
}
