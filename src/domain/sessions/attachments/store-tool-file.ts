import type { Readable } from 'node:stream';
import type { Store, Transaction } from '../../../store/store.ts';
import type { Context } from '../../context.ts';
import type { AttachmentRecord } from './attachments.ts';
import { storeFile } from './store-file.ts';

/** The output of a tool, as text in UTF-8. */
export interface ToolFile {
  readonly organizationId: string;
  /** Unprefixed. */
  readonly sessionId: string;
  readonly content: Readable;
}

/** Returns the number of files of tools in a session, and their size together. */
export async function readToolFiles(
  store: Pick<Store, 'query'>,
  sessionId: string,
): Promise<{ count: number; bytes: number }> {
  const [row] = await store.query<{ count: number; bytes: number }>(
    `select count(*)::int as count, coalesce(sum(size_bytes), 0)::float8 as bytes from attachment
      where session_id = $1 and source = 'tool'`,
    [sessionId],
  );
  return row ?? { count: 0, bytes: 0 };
}

/**
 * Stores the output of a tool as a file of the session, in the transaction of `write`, which locks the session. Leaves nothing
 * behind if either fails. Throws the errors of `write`.
 */
export async function storeToolFile(
  context: Context,
  { organizationId, sessionId, content }: ToolFile,
  write: (tx: Transaction, attachment: AttachmentRecord) => Promise<void>,
): Promise<AttachmentRecord> {
  const file = { organizationId, sessionId, source: 'tool', name: 'tool-output.txt', content } as const;
  const tooLarge = { path: 'output', expected: 'The output of a tool must have' };
  return storeFile(context, { ...file, contentType: 'text/plain' }, tooLarge, async (attachment, storageKey) => {
    await context.store.transact(async (tx) => {
      await write(tx, attachment);
      await tx.prisma.attachment.create({ data: { ...attachment, storageKey } });
    });
  });
}
