import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Confine } from '../../../git/diff/scratch.ts';
import { findMissingObjects } from '../../../git/missing-objects.ts';
import { refillMirror } from '../../../git/refill-mirror.ts';
import { RepositoryError } from '../../../git/repository-error.ts';
import type { SandboxClone } from '../driver.ts';
import type { WorkspaceFiles } from '../workspaces.ts';
import type { LocalMachine } from './local-machine.ts';
import { areDirectories, inDirectory } from './safe-directory.ts';
import { switchBranch } from './switch-branch.ts';

/** A clone that an earlier run of a session made, possibly on another machine. */
export interface AdoptRequest extends SandboxClone {
  readonly sessionId: string;
  /** The absolute path of the workspace. */
  readonly workspace: string;
  readonly confine: Confine | null;
  /** The files of the session, for the record of the mirrors that its clones borrow from. */
  readonly files: Pick<WorkspaceFiles, 'readLocalRecord' | 'writeLocalRecord'>;
}

/**
 * Makes a clone borrow the objects of this machine's mirror, which is filled from the forge if it lacks some. Returns the directory
 * of the objects. What the clone says about its objects is not trusted, and no link in it is followed. Calls `onIncomplete` if
 * objects are missing afterwards. Rejects with RepositoryError if it is stopped.
 */
export async function adoptClone(machine: LocalMachine, request: AdoptRequest, isBorrowing: boolean): Promise<string> {
  const { workspace, directory, repository, sessionId, files, signal } = request;
  const mirror = await machine.mirrors.open(repository);
  const { objects } = mirror;
  const name = directory ?? '.';
  const names = directory === null ? [] : directory.split('/');
  const { formerBranch: from, branch: to } = request;
  // If it fails, the agent does it: its prompt names the branch.
  if (from != null) await switchBranch({ workspace, names, from, to }).catch(() => undefined);
  const lent = await readBorrowed(files);
  // Clones that do not borrow have copies of all objects.
  if (!isBorrowing || lent[name] === objects) return objects;
  const clone = join(workspace, ...names);
  if ((await lstat(join(clone, '.git')).catch(() => null)) === null) return objects;
  try {
    // The sweep of mirrors keeps it from now on.
    await mirror.lend(sessionId);
    if (!(await areDirectories(workspace, [...names, '.git', 'objects'])))
      throw new RepositoryError('REFUSED_CONTENT', 'A directory of the clone is not an ordinary directory.');
    await inDirectory(workspace, [...names, '.git', 'objects', 'info'], (info) =>
      info.write('alternates', `${objects}\n`, 0o644),
    );
    // The sweep of mirrors deletes the files that a crash left there.
    const temporary = join(machine.mirrors.directory, '.snapshots');
    await mkdir(temporary, { recursive: true, mode: 0o700 });
    const { path } = machine.mirrors;
    const { base = null, confine } = request;
    const find = () => findMissingObjects({ workspace, clone, objects, base, temporary, path, confine, signal });
    let missing = await find();
    if (!missing.isComplete) {
      await refillMirror(mirror, { ...request, ids: missing.ids });
      missing = await find();
    }
    if (missing.isComplete) await files.writeLocalRecord(recordName, JSON.stringify({ ...lent, [name]: objects }));
    else request.onIncomplete?.('The forge no longer has all commits of the clone.');
  } catch (error) {
    if (!(error instanceof RepositoryError) || error.code === 'STOPPED') throw error;
    request.onIncomplete?.(error.message);
  }
  return objects;
}

/** The record beside a workspace of the mirrors whose objects its clones have, by their directories. */
const recordName = 'borrowed-objects';

async function readBorrowed(files: AdoptRequest['files']): Promise<Record<string, string>> {
  try {
    return JSON.parse((await files.readLocalRecord(recordName)) || '{}') as Record<string, string>;
  } catch {
    return {};
  }
}

/** Records that a new clone has all objects of its mirror. */
export async function recordBorrowed(
  files: AdoptRequest['files'],
  directory: string | null,
  objects: string,
): Promise<void> {
  const lent = await readBorrowed(files);
  await files.writeLocalRecord(recordName, JSON.stringify({ ...lent, [directory ?? '.']: objects }));
}
