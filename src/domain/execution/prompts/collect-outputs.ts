import { posix } from 'node:path';
import type { FoundFile, WorkspaceFiles } from '../../../agents/sandbox/workspaces.ts';
import { DomainError } from '../../../common/errors.ts';
import type { Context } from '../../context.ts';
import { AlreadyStoredError, storeAgentFile } from '../../sessions/attachments/store-agent-file.ts';
import { appendEntries, FencedError } from '../../sessions/log.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import type { Mask } from '../runs/masking.ts';
import { outputsDirectory, sessionDirectory } from './session-files.ts';

/** Maximum number of files that become attachments at the end of one turn; the others wait for the next. */
const maxFiles = 100;
/** Maximum depth of folders. */
const maxDepth = 5;
/** Maximum number of names that are read: an agent may leave a very large tree there. */
const maxNames = 5_000;

/** The workspace whose outputs are collected. */
export interface OutputsInput {
  readonly organizationId: string;
  readonly workspace: WorkspaceFiles;
  readonly mask: Mask;
}

/** The collected files: the state of each by its path. */
type Collected = Record<string, string>;

/**
 * Creates attachments of the files that the agent left in `.session/outputs/`; files that have not changed since are
 * not collected again. Call it after a turn, before its end is written, or after that if a user has stopped the turn.
 * Throws FencedError if the run is lost; any other error with a file becomes a notice in the log. Returns the number of
 * attachments.
 */
export async function collectOutputs(
  context: Context,
  run: ClaimedRun,
  { organizationId, workspace, mask }: OutputsInput,
): Promise<number> {
  const collected = await readCollected(workspace);
  let count = 0;
  const { files, isCut } = await workspace.list([sessionDirectory, outputsDirectory], { maxDepth, maxNames });
  if (isCut) {
    const message = `\`${root}\` has more than ${maxNames} files and folders. The service reads no more of them: the others were left out.`;
    await appendNotice(context, run, message);
  }
  for (const { path, state } of await changedFiles(workspace, files, collected)) {
    const name = mask(posix.relative(root, path).replaceAll('/', '-'));
    // A worker that dies before it has recorded a stored file does not store it twice.
    const idempotencyKey = context.keyring.hashToken(`output:${run.sessionId}:${path}:${state}`);
    try {
      await storeAgentFile(context, run, { organizationId, workspace, path, name, idempotencyKey });
      count++;
    } catch (error) {
      if (error instanceof FencedError) throw error;
      if (!(error instanceof AlreadyStoredError)) {
        await appendNotice(context, run, mask(`The file ${path} could not be kept: ${reasonOf(context, error)}`));
        // A file that could not be stored is tried again after the next turn.
        if (!(error instanceof DomainError)) continue;
      }
    }
    collected[path] = state;
    await workspace.writeRecord(recordName, JSON.stringify(collected));
  }
  return count;
}

const root = `${sessionDirectory}/${outputsDirectory}`;

async function changedFiles(
  workspace: WorkspaceFiles,
  files: readonly FoundFile[],
  collected: Collected,
): Promise<readonly { readonly path: string; readonly state: string }[]> {
  const changed: { path: string; state: string }[] = [];
  for (const file of files) {
    if (changed.length >= maxFiles) break;
    const path = `${root}/${file.path}`;
    // Null for a link out of the workspace: the state does not reveal whether a file exists outside.
    const { version: state } = (file.isLink ? await workspace.stat(path) : null) ?? file;
    if (collected[path] !== state) changed.push({ path, state });
  }
  return changed;
}

function reasonOf(context: Context, error: unknown): string {
  const { log, maxAttachmentBytes } = context;
  if (error instanceof DomainError) {
    const isTooLarge = error.code === 'LIMIT_EXCEEDED';
    return isTooLarge ? `it has more than ${maxAttachmentBytes} bytes.` : 'it leads to no file of the workspace.';
  }
  log.error({ err: error }, 'A file that an agent left could not be stored.');
  return 'something went wrong inside of the service.';
}

async function appendNotice(context: Context, { sessionId, generation }: ClaimedRun, body: string): Promise<void> {
  await appendEntries(context.store, sessionId, generation, [{ kind: 'NOTICE', body }], context.now());
  context.notifier.notify(`session:${sessionId}`);
}

const recordName = 'outputs.json';

async function readCollected(workspace: WorkspaceFiles): Promise<Collected> {
  const collected: Collected = Object.create(null);
  try {
    const recorded = JSON.parse((await workspace.readRecord(recordName)) ?? '{}') as Collected;
    for (const [path, state] of Object.entries(recorded)) collected[path] = withoutInode(state);
    return collected;
  } catch {
    // A crash of the host has left half of it. The idempotency keys still prevent a second attachment of a recent file.
    return collected;
  }
}

// Earlier versions recorded `inode size milliseconds`.
function withoutInode(state: string): string {
  const [, size, ms] = /^\d+ (\d+) ([\d.]+)$/.exec(state) ?? [];
  return size === undefined ? state : `${size} ${Math.floor(Number(ms) * 1_000)}`;
}
