import type { Readable } from 'node:stream';
import { permissionFor } from '../../auth/permissions.ts';
import { FileTooLargeError } from '../../store/files.ts';
import type { Context } from '../context.ts';
import { refuse } from '../errors.ts';
import { newId } from '../ids.ts';
import { useOrganization } from '../organizations/use-organization.ts';
import type { AttachmentRecord } from './attachments.ts';
import { sniffContentType } from './content-type.ts';
import { cleanFileName } from './names.ts';

/** A file as it comes in: any name, and its content, which is read to its end or destroyed. */
export interface CreateAttachmentInput {
  readonly organizationId: string;
  readonly name: string;
  readonly content: Readable;
}

/**
 * Keeps a file for an organization; a session that names it later has it. Nothing is left behind when it is refused or its
 * content breaks off. ORGANIZATION_NOT_USABLE, FORBIDDEN; LIMIT_EXCEEDED at `file` beyond what the service takes.
 */
export async function createAttachment(context: Context, input: CreateAttachmentInput): Promise<AttachmentRecord> {
  const { files } = context;
  const organization = await useOrganization(context, input.organizationId, permissionFor.uploadAttachment);
  const id = newId();
  const received = await files.receive(id, input.content, context.maxAttachmentBytes).catch((error: unknown) => {
    if (error instanceof FileTooLargeError) throw tooLarge(context);
    throw error;
  });
  try {
    const attachment: AttachmentRecord = {
      id,
      organizationId: organization.id,
      sessionId: null,
      name: cleanFileName(input.name),
      contentType: await sniffContentType(received.head),
      sizeBytes: received.sizeBytes,
      source: 'user',
      createdAt: context.now(),
    };
    const storageKey = await files.keep(id);
    await context.store.transact((tx) => tx.prisma.attachment.create({ data: { ...attachment, storageKey } }));
    await files.settle(id);
    return attachment;
  } catch (error) {
    await files
      .discard(id)
      .catch((failure: unknown) =>
        context.log.warn({ err: failure, attachmentId: id }, 'A file that was refused could not be deleted yet.'),
      );
    throw error;
  }
}

function tooLarge({ maxAttachmentBytes }: Context): Error {
  return refuse(['file'], `"file" must be at most ${maxAttachmentBytes / 1_048_576} MiB.`, 'LIMIT_EXCEEDED');
}
