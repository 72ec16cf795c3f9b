import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Lock, LockedPackage } from './lock.ts';
import type { AgentPackage } from './packages.ts';
import { fitsPlatform, type Platform, platformSuffix } from './platform.ts';
import { ProgramError } from './program-error.ts';

/** Reads a JSON file. Rejects if it is missing or invalid. */
export async function readJson(path: string): Promise<unknown> {
  return JSON.parse(await readFile(path, 'utf8'));
}

/** Reads the lock of a ready agent's program. */
export async function readLock(agentId: string): Promise<Lock> {
  return (await readJson(join(import.meta.dirname, 'locks', agentId, 'package-lock.json'))) as Lock;
}

/** A package.json and its lock, for one platform. */
export interface LockedProject {
  readonly manifest: object;
  readonly lock: Lock;
  /** The path of the package with the program. */
  readonly packagePath: string;
}

const folder = 'node_modules/';

/**
 * Makes the project that installs a program on a platform. npm forgives an optional package that it cannot download, and
 * agents have their native programs in such packages: those for this platform become required. Throws NO_PLATFORM.
 */
export function lockedProject(
  { agentId, version, packages }: AgentPackage,
  lock: Lock,
  platform: Platform,
): LockedProject {
  const name =
    packages.length === 1 ? packages[0] : packages.find((each) => each.endsWith(`-${platformSuffix(platform)}`));
  const main = name === undefined ? undefined : lock.packages[folder + name];
  if (name === undefined || main === undefined || !fitsPlatform(main, platform)) {
    const where = `${platform.os} on ${platform.cpu}${platform.libc === 'musl' ? ' with musl' : ''}`;
    const message = `The lock of ${agentId} ${version} has no package for ${where}. Install the program by other means, so that it is in PATH (docs/agents.md).`;
    throw new ProgramError('NO_PLATFORM', message);
  }
  const isOther = (path: string) => packages.some((each) => each !== name && path === folder + each);
  const fitting = Object.entries(lock.packages).filter(
    ([path, each]) => path !== '' && !isOther(path) && fitsPlatform(each, platform),
  );
  const paths = new Set(fitting.map(([path]) => path));
  const isRequired = ([path, each]: [string, LockedPackage]) =>
    path === folder + name || (each.optional === true && path.lastIndexOf(folder) === 0);
  const dependencies = Object.fromEntries(
    fitting.filter(isRequired).map(([path, each]) => [path.slice(folder.length), specOf(each)]),
  );
  const root = { name: lock.name, dependencies };
  const entries = fitting.map(([path, { optional, ...each }]): [string, LockedPackage] => {
    const isOptional = optional === true && !isRequired([path, { optional }]);
    return [path, { ...withPresent(path, each, paths), ...(isOptional && { optional }) }];
  });
  return {
    manifest: { ...root, private: true },
    lock: { ...lock, packages: { '': root, ...Object.fromEntries(entries) } },
    packagePath: folder + name,
  };
}

// npm refuses a lock that lacks an optional package, also one for another platform.
function withPresent(path: string, entry: LockedPackage, paths: ReadonlySet<string>): LockedPackage {
  const { optionalDependencies } = entry;
  if (optionalDependencies === undefined) return entry;
  const isThere = ([name]: [string, string]) => paths.has(`${path}/${folder}${name}`) || paths.has(folder + name);
  return { ...entry, optionalDependencies: Object.fromEntries(Object.entries(optionalDependencies).filter(isThere)) };
}

const specOf = ({ name, version = '' }: LockedPackage) => (name === undefined ? version : `npm:${name}@${version}`);
