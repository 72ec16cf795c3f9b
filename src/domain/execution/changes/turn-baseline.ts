import type { WorkspaceFiles } from '../../../agents/sandbox/workspaces.ts';
import type { RepositoryChanges } from '../../../git/diff/file-change.ts';
import type { EarlierState } from '../../../git/diff/snapshot.ts';

interface Baseline {
  readonly base: string | null;
  /** In base64; null: too large. */
  readonly patch: string | null;
  readonly unread: EarlierState['unread'];
}

/** Maximum size of a patch that is kept, in bytes. */
export const maxPatchBytes = 16 * 1_048_576;

const nameOf = (position: number) => `changes-${position}.json`;

/**
 * Reads the state of a repository at the end of the turn before, which is kept beside the workspace. A repository without such a
 * record is as it was cloned. Null: the record is of no use.
 */
export async function readBaseline(
  files: WorkspaceFiles,
  position: number,
  base: string | null,
): Promise<EarlierState | null> {
  const text = await files.readRecord(nameOf(position)).catch(() => null);
  if (text === null) return { patch: Buffer.alloc(0), unread: [] };
  try {
    const { base: recorded, patch, unread } = JSON.parse(text) as Baseline;
    return patch === null || recorded !== base ? null : { patch: Buffer.from(patch, 'base64'), unread };
  } catch {
    return null;
  }
}

/** Records the state of a repository at the end of a turn. */
export async function writeBaseline(
  files: WorkspaceFiles,
  { position, base }: { readonly position: number; readonly base: string | null },
  { changes, patch }: { readonly changes: RepositoryChanges; readonly patch: Buffer | null },
): Promise<void> {
  const unread = changes.files.filter(({ mode, oldMode }) => mode === null && oldMode === null);
  const baseline: Baseline = {
    base,
    patch: patch?.toString('base64') ?? null,
    unread: unread.map(({ path, size }) => [path, size]),
  };
  await files.writeRecord(nameOf(position), JSON.stringify(baseline));
}
