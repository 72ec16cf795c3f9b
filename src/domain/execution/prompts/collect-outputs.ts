import type { Stats } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { type FoundFile, listBelow, openInside } from '../../../agents/safe-directory.ts';
import type { Context } from '../../context.ts';
import { DomainError } from '../../errors.ts';
import { AlreadyStoredError, storeAgentFile } from '../../sessions/attachments/store-agent-file.ts';
import { appendEntries, FencedError } from '../../sessions/log.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import type { LaunchPlan } from '../runs/launch.ts';
import type { Mask } from '../runs/masking.ts';
import { outputsDirectory, sessionDirectory } from './session-files.ts';

/** The most files that the end of one turn makes attachments of; the others wait for the next. */
const maxFiles = 100;
/** How deep folders are looked into. */
const maxDepth = 5;
/** How many names are read: an agent may leave a whole tree there. */
const maxNames = 5_000;

/** What was collected, by its path: what the file was like then. Beside the workspace, where the agent has no business. */
type Collected = Record<string, string>;

/**
 * Makes attachments of what the agent left in `.session/outputs/`; what has not changed since it was collected is not
 * collected again. To be called when a turn has ended, before that is written. FencedError when the run is lost; whatever
 * else goes wrong with a file is a notice in the log. Gives how many there were.
 */
export async function collectOutputs(context: Context, run: ClaimedRun, plan: LaunchPlan, mask: Mask): Promise<number> {
  const { workspaceDir, organizationId } = plan;
  const collected = await readCollected(plan);
  let count = 0;
  const { files, isCut } = await listBelow(workspaceDir, [sessionDirectory, outputsDirectory], { maxDepth, maxNames });
  if (isCut) {
    const message = `\`${root}\` has more than ${maxNames} files and folders. The service reads no more of them: the others were left out.`;
    await appendNotice(context, run, message);
  }
  for (const { path, state } of await changedFiles(workspaceDir, files, collected)) {
    const name = mask(posix.relative(root, path).replaceAll('/', '-'));
    // A worker that dies before it has noted what it kept keeps nothing twice.
    const idempotencyKey = context.keyring.hashToken(`output:${run.sessionId}:${path}:${state}`);
    try {
      await storeAgentFile(context, run, { organizationId, workspaceDir, path, name, idempotencyKey: idempotencyKey });
      count++;
    } catch (error) {
      if (error instanceof FencedError) throw error;
      if (!(error instanceof AlreadyStoredError)) {
        await appendNotice(context, run, mask(`The file ${path} could not be kept: ${reasonOf(context, error)}`));
        // What the store could not take this time is tried again after the next turn.
        if (!(error instanceof DomainError)) continue;
      }
    }
    collected[path] = state;
    await writeCollected(plan, collected);
  }
  return count;
}

const root = `${sessionDirectory}/${outputsDirectory}`;

async function changedFiles(
  workspaceDir: string,
  files: readonly FoundFile[],
  collected: Collected,
): Promise<readonly { readonly path: string; readonly state: string }[]> {
  const changed: { path: string; state: string }[] = [];
  for (const file of files) {
    if (changed.length >= maxFiles) break;
    const path = `${root}/${file.path}`;
    const { ino, size, mtimeMs } = (file.isLink ? await behindLink(workspaceDir, path) : null) ?? file;
    const state = `${ino} ${size} ${mtimeMs}`;
    if (collected[path] !== state) changed.push({ path, state });
  }
  return changed;
}

// Null for a link out of the workspace, and for one to nothing: whether there is something outside is not told.
async function behindLink(workspaceDir: string, path: string): Promise<Stats | null> {
  const handle = await openInside(workspaceDir, path);
  if (handle === null) return null;
  try {
    return await handle.stat();
  } finally {
    await handle.close();
  }
}

function reasonOf(context: Context, error: unknown): string {
  const { log, maxAttachmentBytes } = context;
  if (error instanceof DomainError) {
    const isTooLarge = error.code === 'LIMIT_EXCEEDED';
    return isTooLarge ? `it has more than ${maxAttachmentBytes} bytes.` : 'it leads to no file of the workspace.';
  }
  log.error({ err: error }, 'A file that an agent left could not be kept.');
  return 'something went wrong inside of the service.';
}

async function appendNotice(context: Context, { sessionId, generation }: ClaimedRun, body: string): Promise<void> {
  await appendEntries(context.store, sessionId, generation, [{ kind: 'NOTICE', body }], context.now());
  context.notifier.notify(`session:${sessionId}`);
}

const fileOf = ({ workspaceDir }: LaunchPlan) => join(dirname(workspaceDir), 'outputs.json');

async function readCollected(plan: LaunchPlan): Promise<Collected> {
  const collected: Collected = Object.create(null);
  try {
    return Object.assign(collected, JSON.parse(await readFile(fileOf(plan), 'utf8')));
  } catch {
    // None yet, or a host that failed has left half of it: nothing that was kept lately is kept again without it.
    return collected;
  }
}

async function writeCollected(plan: LaunchPlan, collected: Collected): Promise<void> {
  const draft = `${fileOf(plan)}.draft`;
  await writeFile(draft, JSON.stringify(collected), { mode: 0o600 });
  await rename(draft, fileOf(plan));
}
