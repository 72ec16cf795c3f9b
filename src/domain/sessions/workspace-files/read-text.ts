import { buffer } from 'node:stream/consumers';
import type { WorkspaceFileRecord } from './list-files.ts';
import { asWorkspaceError } from './open-workspace.ts';

/** Bytes of a file whose text is read. */
const maxTextBytes = 1_048_576;

/**
 * Reads the text of a file: null if it is no file, has more than 1 MiB, contains a NUL or is not UTF-8. A byte order mark is kept.
 * Throws the errors of {@link asWorkspaceError}.
 */
export async function readWorkspaceText(file: WorkspaceFileRecord): Promise<string | null> {
  const { type, size, path, workspace } = file;
  if (type !== 'FILE' || size > maxTextBytes) return null;
  const content = await buffer(workspace.tree.read(path.split('/'))).catch((error: unknown) => {
    throw asWorkspaceError(error);
  });
  if (content.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return null;
  }
}
