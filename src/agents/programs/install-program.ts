import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readdir, realpath, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { isInside } from '../sandbox/program-files.ts';
import { isFullError, noSpace, watchSpace } from './free-space.ts';
import { clearDeadTurn, isLink, takeTurn, turnDirectory } from './install-turn.ts';
import type { Lock } from './lock.ts';
import { installLocked } from './npm.ts';
import { type AgentPackage, agentPackages } from './packages.ts';
import { ownPlatform } from './platform.ts';
import { currentFile, findInstalled, programDirectory, readCurrent } from './program-directory.ts';
import { ProgramError } from './program-error.ts';
import { lockedProject, readJson, readLock } from './program-lock.ts';
import { type InstallProgress, watchProgress } from './watch-progress.ts';

/** The maximum duration of an installation. */
const timeoutMs = 20 * 60_000;

/** Options of {@link installProgram}. */
export interface InstallOptions {
  readonly agentsDir: string;
  /** The variables for npm. */
  readonly env: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Called about once a second. */
  onProgress?(progress: InstallProgress): void;
  /** The package to install, and its lock, instead of the pinned ones of a ready agent. */
  readonly from?: { readonly package: AgentPackage; readonly lock: Lock };
}

/** The package of a ready agent. Throws UNKNOWN_AGENT. */
export function packageOf(agentId: string): AgentPackage {
  const found = Object.hasOwn(agentPackages, agentId) ? agentPackages[agentId] : undefined;
  if (found) return found;
  const known = Object.keys(agentPackages).join(', ');
  throw new ProgramError(
    'UNKNOWN_AGENT',
    `There is no agent ${JSON.stringify(agentId.slice(0, 80))} to install. Available agents: ${known}.`,
  );
}

/** Returns true if the pinned version of an agent is installed in AGENTS_DIR. */
export async function isCurrent(agentsDir: string, agentId: string): Promise<boolean> {
  return (await findInstalled(agentsDir, agentId))?.version === packageOf(agentId).version;
}

/**
 * Installs the pinned version of a ready agent's program, also over another version or a damaged one. The version before
 * works until the new one is complete, and after every failure; its files stay for agents that run. Returns the version.
 * Rejects with a {@link ProgramError}.
 */
export async function installProgram(agentId: string, options: InstallOptions): Promise<string> {
  const { agentsDir, env, onProgress, signal = new AbortController().signal } = options;
  const wanted = options.from?.package ?? packageOf(agentId);
  const project = lockedProject(wanted, options.from?.lock ?? (await readLock(agentId)), ownPlatform());
  const root = programDirectory(agentsDir, agentId);
  const turn = await takeTurn(root, agentId).catch(explain);
  const space = watchSpace(root);
  try {
    const [files, cache] = [join(turn.directory, 'files'), join(turn.directory, 'cache')];
    await mkdir(files);
    await writeFile(join(files, 'package.json'), JSON.stringify(project.manifest));
    await writeFile(join(files, 'package-lock.json'), JSON.stringify(project.lock));
    const stopWatching = watchProgress(turn.directory, wanted.downloadMb, onProgress);
    try {
      await installLocked(files, cache, { env, signal, timeoutMs, onStart: turn.recordGroup });
    } finally {
      stopWatching();
    }
    const program = join(project.packagePath, wanted.file);
    await requireComplete(files, project.lock);
    await requireProgram(files, program);
    const previous = await readCurrent(agentsDir, agentId);
    const directory = `${wanted.version}-${randomBytes(4).toString('hex')}`;
    await rename(files, join(root, directory));
    const current = JSON.stringify({ directory, version: wanted.version, program });
    await writeFile(join(turn.directory, currentFile), `${current}\n`);
    await rename(join(turn.directory, currentFile), join(root, currentFile));
    // Agents that run now may still load files of the version before.
    await removeVersions(root, [directory, previous?.directory]);
    await reportChange(agentsDir);
    return wanted.version;
  } catch (error) {
    const isKnown = error instanceof ProgramError && error.code !== 'FAILED';
    return explain(isKnown ? error : ((await space.end()) ?? error));
  } finally {
    await space.end();
    await turn.end();
  }
}

/** Removes the program of an agent with all its versions. Returns false if there was none. Rejects with BUSY. */
export async function removeProgram(agentId: string, agentsDir: string): Promise<boolean> {
  packageOf(agentId);
  const root = programDirectory(agentsDir, agentId);
  if ((await readCurrent(agentsDir, agentId)) === null && (await stat(root).catch(() => null)) === null) return false;
  // On a full disk nobody can install, and the deletion that frees it needs no turn.
  const turn = await takeTurn(root, agentId).catch((error) => (isFullError(error) ? null : explain(error)));
  try {
    await rm(join(root, currentFile), { force: true });
    await removeVersions(root, []);
    await reportChange(agentsDir);
    return true;
  } catch (error) {
    return explain(error);
  } finally {
    if (turn === null) await rmdir(join(root, turnDirectory)).catch(() => undefined);
    else await turn.end();
    // Another installation may have begun.
    await rmdir(root).catch(() => undefined);
  }
}

/** Removes what interrupted installations left, and versions that are no longer current. Call it before agents run. */
export async function tidyPrograms(agentsDir: string): Promise<void> {
  for (const agentId of Object.keys(agentPackages)) {
    const root = programDirectory(agentsDir, agentId);
    if (await isLink(root)) continue;
    await clearDeadTurn(root);
    const names = await readdir(root).catch((): string[] => []);
    if (names.length === 0 || names.includes(turnDirectory)) continue;
    await removeVersions(root, [(await readCurrent(agentsDir, agentId))?.directory]);
  }
}

async function removeVersions(root: string, kept: readonly (string | undefined)[]): Promise<void> {
  const stay = [currentFile, turnDirectory, ...kept];
  for (const name of await readdir(root)) {
    if (!stay.includes(name)) await rm(join(root, name), { recursive: true, force: true, maxRetries: 3 });
  }
}

// npm's success is not enough: a package of a tree that another process has changed meanwhile may be missing.
async function requireComplete(files: string, { packages }: Lock): Promise<void> {
  for (const [path, { optional, version }] of Object.entries(packages)) {
    if (path === '' || optional === true) continue;
    const manifest = manifestSchema.safeParse(await readJson(join(files, path, 'package.json')).catch(() => null)).data;
    if (manifest?.version === version) continue;
    throw new ProgramError('FAILED', `The installation is incomplete: ${path} is missing. Try again.`);
  }
}

const manifestSchema = z.object({ version: z.string() });

// The package is in the lock with its checksum, so this fails only if the table of packages is wrong.
async function requireProgram(files: string, program: string): Promise<void> {
  const path = await realpath(join(files, program)).catch(() => null);
  const isFile = path !== null && isInside(path, await realpath(files)) && (await stat(path)).isFile();
  if (!isFile) throw new ProgramError('FAILED', `The package has no program ${program}.`);
  await chmod(path, 0o755);
}

/** The file whose changes tell the processes of this host that programs have changed. */
export const changeFile = 'changed';

async function reportChange(agentsDir: string): Promise<void> {
  await writeFile(join(agentsDir, changeFile), `${new Date().toISOString()}\n`).catch(() => undefined);
}

// Errors of the file system get a sentence for the operator.
function explain(error: unknown): never {
  if (error instanceof ProgramError) throw error;
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (isFullError(error)) throw new ProgramError('NO_SPACE', noSpace);
  if (['EACCES', 'EPERM', 'EROFS', 'ENOTDIR'].includes(code)) {
    throw new ProgramError('NO_PERMISSION', `The user of the service may not write to AGENTS_DIR: ${message}.`);
  }
  throw new ProgramError('FAILED', `The program could not be changed: ${message}.`);
}
