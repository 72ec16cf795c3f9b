import type { Readable } from 'node:stream';
import { permissionFor } from '../../../auth/permissions.ts';
import type { Transaction } from '../../../store/store.ts';
import type { Context } from '../../context.ts';
import { requireStorageRoom } from '../../identity/organizations/organization-quotas.ts';
import { useOrganization } from '../../identity/organizations/use-organization.ts';
import type { AttachmentRecord } from './attachments.ts';
import { storeFile } from './store-file.ts';

/** A received file: any name, and its content, which is read to its end or destroyed. */
export interface CreateAttachmentInput {
  readonly organizationId: string;
  readonly name: string;
  readonly content: Readable;
}

/**
 * Stores a file for an organization; a session that names it later owns it. Leaves nothing behind if it is refused or
 * its content breaks off. Throws ORGANIZATION_NOT_USABLE, FORBIDDEN; LIMIT_EXCEEDED at `file` beyond the maximum size, and without a path beyond the organization's storage;
 * the errors of `admit`, which runs first in the transaction.
 */
export async function createAttachment(
  context: Context,
  input: CreateAttachmentInput,
  admit?: (tx: Transaction, attachment: AttachmentRecord) => Promise<void>,
): Promise<AttachmentRecord> {
  const { id } = await useOrganization(context, input.organizationId, permissionFor.uploadAttachment);
  return storeFile(
    context,
    { ...input, organizationId: id, sessionId: null, source: 'user' },
    { path: 'file', expected: '"file" must be' },
    async (attachment, storageKey) => {
      await context.store.transact(async (tx) => {
        await admit?.(tx, attachment);
        await requireStorageRoom(context, tx, id, attachment.sizeBytes);
        await tx.prisma.attachment.create({ data: { ...attachment, storageKey } });
      });
    },
  );
}
