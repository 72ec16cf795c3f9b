import { randomBytes } from 'node:crypto';
import { renameSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, readdir } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { CheckpointError, type RestoreReport } from '../../../checkpoints/driver.ts';
import { refusedBySystem } from '../../../checkpoints/segment-reader.ts';
import { cloneRepository, readPushedCommits, readPushedRef } from '../../../git/clone.ts';
import type { Confine } from '../../../git/diff/scratch.ts';
import { openSnapshot } from '../../../git/diff/snapshot.ts';
import { openRepositoryFiles } from '../../../git/read-files.ts';
import { RepositoryError } from '../../../git/repository-error.ts';
import { removeTree } from '../../../store/delete-tree.ts';
import type { DriverDescription, Sandbox, SandboxDriver, SandboxRequest, WorkspaceRestore } from '../driver.ts';
import type { AgentPaths, SandboxSettings } from '../settings.ts';
import { adoptClone, recordBorrowed } from './adopt-clone.ts';
import { writeFileAt } from './local-files.ts';
import type { LocalMachine } from './local-machine.ts';
import { startLocalProcess } from './local-process.ts';
import { runtimePrefix } from './process-spool.ts';
import { replaceClone } from './replace-clone.ts';
import {
  firstForwardedPort,
  type PortForward,
  type SandboxCommand,
  socketNameOf,
  type WrapRequest,
} from './sandbox-command.ts';
import {
  discardDirectory,
  homeIn,
  recordsIn,
  restoringIn,
  segmentSpoolIn,
  sessionIn,
  workspaceIn,
} from './session-directories.ts';

/** The parts in which drivers of this machine differ. */
export interface LocalDriverParts extends DriverDescription {
  /** Converts a command to the process of the host that runs it in the sandbox. */
  wrap(request: WrapRequest): SandboxCommand;
  /** Confines the git that compares workspaces; null: this machine cannot. */
  readonly confineGit: Confine | null;
  /** The directories as the agent sees them. */
  pathsOf(directories: AgentPaths, settings: SandboxSettings | null): AgentPaths;
}

/** The maximum number of names in the path of a clone in its workspace. */
const maxCloneDepth = 4;

/** Creates a driver that runs agents as child processes of this one. */
export function createLocalDriver(machine: LocalMachine, parts: LocalDriverParts): SandboxDriver {
  const { name, strictness, hostProgram, runsHostPrograms } = parts;
  return {
    name,
    strictness,
    hostProgram,
    runsHostPrograms,
    workspaces: machine.workspaces,
    async open(request) {
      const { sessionId, isNew } = request;
      if (isNew) await machine.workspaces.discard(sessionId);
      const root = sessionIn(machine.dataDir, sessionId);
      const [workspace, home] = [workspaceIn(root), homeIn(root)];
      for (const path of [workspace, home, recordsIn(root)]) await mkdir(path, { recursive: true, mode: 0o700 });
      const runtime = await mkdtemp(runtimePrefix(machine.workerId));
      return createLocalSandbox(machine, parts, request, { workspace, home, runtime });
    },
    restoreWorkspace: (request) => restoreWorkspace(machine, request),
    openRepositoryFiles: (request) => openRepositoryFiles(machine.mirrors, request),
  };
}

/**
 * Restores beside the sessions, and then moves the directory of the session into its position: a crash leaves either the earlier one, none,
 * or the complete new one. The owner is the user of this process, as of all workspaces: agents run as this user too, under another number in
 * a sandbox.
 */
async function restoreWorkspace(
  { dataDir, checkpoints }: LocalMachine,
  { sessionId, ...request }: WorkspaceRestore,
): Promise<RestoreReport> {
  const name = `${sessionId}-${randomBytes(6).toString('hex')}`;
  const root = join(restoringIn(dataDir), name);
  const spoolDir = join(segmentSpoolIn(dataDir), name);
  const directories = { workspace: workspaceIn(root), home: homeIn(root), records: recordsIn(root) };
  try {
    const report = await checkpoints.restore({ ...request, directories, spoolDir, owner: null });
    // Without waiting in between, so that nobody sees the session without a directory.
    discardDirectory(dataDir, sessionId);
    renameSync(root, sessionIn(dataDir, sessionId));
    return report;
  } catch (error) {
    throw error instanceof CheckpointError ? error : refusedBySystem('The workspace cannot be restored', error);
  } finally {
    for (const path of [root, spoolDir]) await removeTree(path).catch(() => undefined);
  }
}

function createLocalSandbox(
  machine: LocalMachine,
  { wrap, pathsOf, strictness, runsHostPrograms, confineGit }: LocalDriverParts,
  { sessionId, settings }: SandboxRequest,
  directories: AgentPaths,
): Sandbox {
  const paths = pathsOf(directories, settings);
  const hasNetwork = strictness(settings).network === 'host';
  const forwards: PortForward[] = [];
  const borrowed = new Set<string>();
  const records = recordsIn(sessionIn(machine.dataDir, sessionId));
  const spoolDir = join(segmentSpoolIn(machine.dataDir), `${sessionId}-${randomBytes(6).toString('hex')}`);
  return {
    paths,
    nodeProgram: process.execPath,
    files: machine.workspaces.files(sessionId),
    writeRunFile: (name, content) => writeFileAt(directories.runtime, name, content, 0o644),
    async cloneRepository({ directory, replaced = null, ...request }) {
      const target = await cloneTarget(directories.workspace, directory);
      const files = machine.workspaces.files(sessionId);
      const isTaken = !(await isFree(target));
      if (isTaken && replaced === null) {
        const { workspace } = directories;
        const adopted = { ...request, directory, sessionId, workspace, confine: confineGit, files };
        borrowed.add(await adoptClone(machine, adopted, runsHostPrograms));
        return null;
      }
      // In the sandbox of a command of the operator, the mirror is not at the same path.
      const borrowerId = runsHostPrograms ? sessionId : null;
      const cloneRequest = { ...request, target, borrowerId };
      const temporary = join(sessionIn(machine.dataDir, sessionId), `clone-${randomBytes(6).toString('hex')}`);
      const clone =
        isTaken && replaced !== null
          ? await replaceClone(machine.mirrors, { ...cloneRequest, replaced, temporary, confine: confineGit })
          : await cloneRepository(machine.mirrors, cloneRequest);
      if (clone.borrowed !== null) {
        borrowed.add(clone.borrowed);
        await recordBorrowed(files, directory, clone.borrowed);
      }
      return clone;
    },
    readPushedCommits: (request) => readPushedCommits(machine.mirrors, request),
    readPushedRef: (request) => readPushedRef(machine.mirrors, request),
    async openSnapshot({ repository, ...request }) {
      const { directory, path } = machine.mirrors;
      const { objects } = await machine.mirrors.open(repository);
      // The sweep of mirrors deletes the files that a crash left there.
      const temporary = join(directory, '.snapshots');
      await mkdir(temporary, { recursive: true, mode: 0o700 });
      const { workspace } = directories;
      return openSnapshot({ ...request, workspace, objects, temporary, path, confine: confineGit });
    },
    async reach(service) {
      const socketName = socketNameOf(service.name);
      const socketPath = posix.join(directories.runtime, socketName);
      if (service.protocol === 'stream') {
        return { address: posix.join(paths.runtime, socketName), listening: await service.listen(socketPath) };
      }
      const listening = await service.listen(hasNetwork ? null : socketPath);
      return { address: `http://127.0.0.1:${listening.port ?? forward(forwards, socketName)}`, listening };
    },
    async start(launch) {
      const env = { ...machine.baseEnv, ...launch.env };
      const command = wrap({
        command: launch.command,
        env,
        settings,
        sessionId,
        directories,
        borrowed: [...borrowed],
        forwards,
      });
      return startLocalProcess(machine, {
        command,
        env: { ...env, ...command.env, HOME: paths.home },
        directories,
        runId: sessionId,
      });
    },
    openSaver: ({ key, from, segments, limits }) =>
      machine.checkpoints.open({
        directories: { workspace: directories.workspace, home: directories.home, records },
        spoolDir,
        key,
        from,
        segments,
        limits,
      }),
    async close() {
      await removeTree(spoolDir);
      await removeTree(directories.runtime);
    },
  };
}

function forward(forwards: PortForward[], socketName: string): number {
  const port = firstForwardedPort + forwards.length;
  forwards.push({ port, socketName });
  return port;
}

// True if it is missing, or an empty directory.
async function isFree(path: string): Promise<boolean> {
  try {
    return (await readdir(path)).length === 0;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

/**
 * Returns the path of a clone, and creates the directories above it. An earlier agent may have left links in the
 * workspace: they are not followed.
 */
async function cloneTarget(workspace: string, directory: string | null): Promise<string> {
  if (directory === null) return workspace;
  const names = directory.split('/');
  if (names.length > maxCloneDepth || !names.every((name) => /^(?!\.)[\w.+-]{1,100}$/.test(name))) {
    throw new RepositoryError('REFUSED_CONTENT', `A clone cannot have the directory "${directory}".`);
  }
  let path = workspace;
  for (const name of names.slice(0, -1)) {
    path = join(path, name);
    await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    if (!(await lstat(path)).isDirectory()) {
      throw new RepositoryError('REFUSED_CONTENT', `"${name}" in the workspace is not a directory.`);
    }
  }
  return join(path, names.at(-1) ?? '');
}
