import { FileTooLargeError } from '../../store/files.ts';
import type { Context } from '../context.ts';
import { refuse } from '../errors.ts';
import { newId } from '../ids.ts';
import { openInside } from '../prompts/held-directory.ts';
import type { ParentRun } from '../sessions/admit-child.ts';
import { lockSession, ringSession } from '../sessions/change-session.ts';
import { appendEntries } from '../sessions/log.ts';
import type { AttachmentRecord } from './attachments.ts';
import { sniffContentType } from './content-type.ts';
import { cleanFileName } from './names.ts';

/** A file in a session's workspace. */
export interface AgentFile {
  readonly organizationId: string;
  /** On this host. */
  readonly workspaceDir: string;
  /** Relative to the workspace. */
  readonly path: string;
  /** What it is called; left out: as on disk. */
  readonly name?: string | undefined;
}

/**
 * Makes an attachment of a file that an agent made. INVALID_INPUT at `path` for what is no file inside of the workspace, also
 * behind a link; LIMIT_EXCEEDED beyond what the service takes; FencedError. Nothing is left behind then.
 */
export async function keepAgentFile(context: Context, run: ParentRun, file: AgentFile): Promise<AttachmentRecord> {
  const { files } = context;
  const handle = file.path.includes('\u0000') ? null : await openInside(file.workspaceDir, file.path);
  if (handle === null) {
    const named = JSON.stringify(file.path.slice(0, 200));
    throw refuse(['path'], `"path" must name a file in the workspace, but there is none at ${named}.`);
  }
  const id = newId();
  try {
    const content = handle.createReadStream({ autoClose: false });
    const received = await files.receive(id, content, context.maxAttachmentBytes);
    const attachment: AttachmentRecord = {
      id,
      organizationId: file.organizationId,
      sessionId: run.sessionId,
      name: cleanFileName(file.name ?? file.path),
      contentType: await sniffContentType(received.head),
      sizeBytes: received.sizeBytes,
      source: 'agent',
      createdAt: context.now(),
    };
    const storageKey = await files.keep(id);
    await insert(context, run, attachment, storageKey);
    await files.settle(id);
    return attachment;
  } catch (error) {
    await files
      .discard(id)
      .catch((failure: unknown) =>
        context.log.warn({ err: failure, attachmentId: id }, 'A file that was refused could not be deleted yet.'),
      );
    if (!(error instanceof FileTooLargeError)) throw error;
    const said = `"path" must name a file of at most ${context.maxAttachmentBytes / 1_048_576} MiB.`;
    throw refuse(['path'], said, 'LIMIT_EXCEEDED');
  } finally {
    await handle.close();
  }
}

async function insert(
  context: Context,
  run: ParentRun,
  attachment: AttachmentRecord,
  storageKey: string,
): Promise<void> {
  await context.store.transact(async (tx) => {
    const session = await lockSession(tx, run.sessionId, run.generation);
    await tx.prisma.attachment.create({ data: { ...attachment, storageKey } });
    const { id, name, contentType, sizeBytes } = attachment;
    const data = { attachmentId: id, name, contentType, sizeBytes, source: 'agent' };
    await appendEntries(
      tx,
      run.sessionId,
      run.generation,
      [{ kind: 'ATTACHMENT', body: name, data }],
      attachment.createdAt,
    );
    ringSession(context, tx, session);
  });
}
