import type { Readable } from 'node:stream';
import { refuse } from '../../../common/errors.ts';
import { FileTooLargeError } from '../../../store/files.ts';
import type { Context } from '../../context.ts';
import { newId } from '../../ids.ts';
import type { AttachmentRecord } from './attachments.ts';
import { sniffContentType } from './content-type.ts';
import { cleanFileName } from './names.ts';

/** A file to receive, and its known properties. */
export interface IncomingFile extends Pick<AttachmentRecord, 'organizationId' | 'sessionId' | 'source'> {
  /** Any name: it is sanitized. */
  readonly name: string;
  /** The type of a file that the service writes; if omitted: it is detected. */
  readonly contentType?: string;
  /** Read to its end, or destroyed. */
  readonly content: Readable;
}

/**
 * Stores a file: its content first, then its rows, which `write` creates in one transaction. Leaves nothing behind if
 * either fails. Throws LIMIT_EXCEEDED at `path` beyond the maximum size, with `expected` before the size; the errors of
 * `write`.
 */
export async function storeFile(
  context: Context,
  file: IncomingFile,
  tooLarge: { readonly path: string; readonly expected: string },
  write: (attachment: AttachmentRecord, storageKey: string) => Promise<void>,
): Promise<AttachmentRecord> {
  const { files, maxAttachmentBytes } = context;
  const { organizationId, sessionId, source } = file;
  const id = newId();
  const received = await files.receive(id, file.content, maxAttachmentBytes).catch((error: unknown) => {
    if (!(error instanceof FileTooLargeError)) throw error;
    const message = `${tooLarge.expected} at most ${maxAttachmentBytes / 1_048_576} MiB.`;
    throw refuse([tooLarge.path], message, 'LIMIT_EXCEEDED');
  });
  try {
    const attachment: AttachmentRecord = {
      id,
      organizationId,
      sessionId,
      name: cleanFileName(file.name),
      contentType: file.contentType ?? (await sniffContentType(received.head)),
      sizeBytes: received.sizeBytes,
      source,
      createdAt: context.now(),
    };
    await write(attachment, await files.store(id));
    // The rows refer to the file now; the clean-up settles it later.
    await files
      .settle(id)
      .catch((error: unknown) =>
        context.log.warn({ err: error, attachmentId: id }, 'A stored file could not be committed.'),
      );
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
