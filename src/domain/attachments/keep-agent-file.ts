import { constants } from 'node:fs';
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { FileTooLargeError } from '../../store/files.ts';
import type { Context } from '../context.ts';
import { refuse } from '../errors.ts';
import { newId } from '../ids.ts';
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
  const handle = await openInside(file.workspaceDir, file.path);
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

// The agent may change its workspace at any time: what counts is where the file that was opened stands.
async function openInside(workspaceDir: string, path: string): Promise<FileHandle> {
  const said = `"path" must name a file in the workspace, but there is none at ${JSON.stringify(path.slice(0, 200))}.`;
  const missing = () => refuse(['path'], said);
  const root = await realpath(workspaceDir);
  const isWithin = (place: string) => !isAbsolute(relative(root, place)) && !relative(root, place).startsWith('..');
  if (path.includes('\u0000') || !isWithin(resolve(root, path))) throw missing();
  // Without waiting for a writer, where it is a pipe.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK;
  const handle = await open(resolve(root, path), flags).catch(() => null);
  if (handle === null) throw missing();
  const real = await placeOf(handle, resolve(root, path));
  if ((await handle.stat()).isFile() && real !== null && real.startsWith(root + sep)) return handle;
  await handle.close();
  throw missing();
}

/** Where an open file stands: by the kernel on Linux, elsewhere by its path. */
async function placeOf(handle: FileHandle, path: string): Promise<string | null> {
  const known = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => null);
  return known ?? (await realpath(path).catch(() => null));
}
