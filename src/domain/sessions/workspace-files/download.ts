import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { notFound } from '../../../common/errors.ts';
import type { ByteRange } from '../../../store/file-storage.ts';
import type { Context } from '../../context.ts';
import { ofAnySession } from '../../identity/organizations/enterprise-scope.ts';
import { getSession } from '../find-session.ts';
import { archiveOf, requireArchivable } from './archive.ts';
import { downloadName, type LinkedFile } from './file-links.ts';
import { asWorkspaceError, openWorkspace } from './open-workspace.ts';
import { parseWorkspacePath } from './workspace-path.ts';

/** A file, or a directory as an archive, that the viewer may download. */
export interface WorkspaceDownload {
  /** The file name for the browser. */
  readonly name: string;
  /** Bytes of a file; null for an archive. */
  readonly size: number | null;
  /** Identifies the content, which never changes. */
  readonly tag: string;
  /** Opens the content, or a part of a file. The errors of the stream are those of `asWorkspaceError`. */
  open(range: ByteRange | null, signal: AbortSignal): ReadableStream<Uint8Array>;
}

/**
 * Finds a file to download. Throws FORBIDDEN and NOT_FOUND for a session that the viewer may not view; NOT_FOUND if the checkpoint,
 * or the file in it, is gone; LIMIT_EXCEEDED for an archive that would be too large; INVALID_STATE for a damaged checkpoint.
 */
export async function findWorkspaceDownload(context: Context, file: LinkedFile): Promise<WorkspaceDownload> {
  const { sessionId, checkpointId, path, isArchive } = file;
  const session = await getSession(ofAnySession(context, 'view'), sessionId);
  const workspace = await openWorkspace(context, { sessionId: session.id, checkpointId });
  const names = parseWorkspacePath(path);
  const entry = workspace?.tree.find(names);
  if (!workspace || entry?.type !== (isArchive ? 'DIRECTORY' : 'FILE')) throw notFound('file');
  const { tree, savedAt: modifiedAt } = workspace;
  if (isArchive) await requireArchivable(tree, names);
  const name = downloadName(file);
  const root = name.replace(/\.tar$/, '');
  return {
    name,
    size: isArchive ? null : entry.size,
    tag: createHash('sha256').update(`${checkpointId}\n${path}`).digest('hex').slice(0, 32),
    open: (range, signal) =>
      isArchive
        ? archiveOf(tree, names, { root, modifiedAt, signal })
        : (Readable.toWeb(tree.read(names, { range: range ?? undefined, signal })) as ReadableStream<Uint8Array>),
  };
}

/** Bytes that are read before a response begins. */
const checkedBytes = 4 * 1_048_576;

/**
 * Reads the beginning of a stream, at most 4 MiB, and returns a stream with all of it. Rejects with the stream's error if it fails so
 * early: a small file, or a damaged checkpoint, then gets a refusal in place of a half response.
 */
export async function readAhead(stream: ReadableStream<Uint8Array>): Promise<ReadableStream<Uint8Array>> {
  const reader = stream.getReader();
  const head: Uint8Array[] = [];
  let isDone = false;
  try {
    for (let bytes = 0; bytes < checkedBytes && !isDone; ) {
      const { done, value } = await reader.read();
      isDone = done;
      if (value === undefined) continue;
      head.push(value);
      bytes += value.byteLength;
    }
  } catch (error) {
    throw asWorkspaceError(error);
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const first = head.shift();
        if (first) return controller.enqueue(first);
        const { done, value } = isDone ? { done: true, value: undefined } : await reader.read();
        if (done || value === undefined) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
