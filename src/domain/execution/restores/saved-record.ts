import type { WorkspaceFiles } from '../../../agents/sandbox/workspaces.ts';
import type { Context } from '../../context.ts';
import type { ClaimedRun } from '../runs/claims.ts';

/** The record beside a workspace that names the checkpoint with the same state. */
const recordName = 'saved-state';

type Records = Pick<WorkspaceFiles, 'readLocalRecord' | 'writeLocalRecord'>;

/** Records that a workspace is as a checkpoint has it. No agent may run until {@link clearSavedRecord}. */
export function writeSavedRecord(files: Records, checkpointId: string): Promise<void> {
  return files.writeLocalRecord(recordName, checkpointId);
}

/** Reads the checkpoint that has the state of a workspace; null: none, or it is not known. */
export async function readSavedRecord(files: Records): Promise<string | null> {
  return (await files.readLocalRecord(recordName)) || null;
}

/** Records that a workspace may change from now on. */
export async function clearSavedRecord(files: Records): Promise<void> {
  if ((await readSavedRecord(files)) !== null) await files.writeLocalRecord(recordName, '');
}

/** Records that a workspace is as the newest checkpoint of a run has it. Does nothing for a run that was lost. */
export async function recordSaved(
  { store }: Pick<Context, 'store'>,
  { sessionId, generation }: Pick<ClaimedRun, 'sessionId' | 'generation'>,
  files: Records,
): Promise<void> {
  const [row] = await store.query<{ checkpointId: string | null }>(
    'select checkpoint_id as "checkpointId" from run where session_id = $1 and generation = $2',
    [sessionId, generation],
  );
  if (row?.checkpointId) await writeSavedRecord(files, row.checkpointId);
}
