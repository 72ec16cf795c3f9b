import { invalidInput } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import { branchName, defaultBranchTemplate } from '../../repositories/branch-name.ts';
import { isCloneDirectory } from '../../repositories/session-repository-input.ts';
import type { ChosenRepository } from './choose-repositories.ts';
import type { InheritedRepository } from './inherited-repositories.ts';

/** The session that the repositories belong to. */
interface NewSession {
  /** Unprefixed id. */
  readonly id: string;
  readonly title: string;
  /** The organization's template; null: the default. */
  readonly branchTemplate: string | null;
  /** See {@link planDirectories}. */
  readonly reserved: readonly string[];
  readonly now: Date;
}

/**
 * Checks that no two repositories are the same or share a directory. `reserved`: directories that other clones have.
 * Throws INVALID_INPUT at `repositories`. Returns the directory of each.
 */
export function planDirectories(chosen: readonly ChosenRepository[], reserved: readonly string[]): string[] {
  const taken = [...reserved];
  const seen = new Set<string>();
  const named = chosen.map(({ wanted, usable }, n) => {
    const where = ['repositories', String(n)];
    if (seen.has(usable.repositoryId)) {
      const message = `"repositories" names ${usable.path} twice.`;
      throw invalidInput([{ path: [...where, 'repository'], message }]);
    }
    seen.add(usable.repositoryId);
    if (wanted.directory == null) return null;
    if (!isFree(taken, wanted.directory)) {
      const message = `"directory" must differ from the other directories and be inside none, but was ${JSON.stringify(wanted.directory)}.`;
      throw invalidInput([{ path: [...where, 'directory'], message }]);
    }
    taken.push(wanted.directory);
    return wanted.directory;
  });
  return named.map((directory, n) => {
    if (directory !== null) return directory;
    const base = defaultDirectory(chosen[n]?.usable.path ?? '');
    let free = base;
    for (let copy = 2; !isFree(taken, free); copy++) free = `${base}-${copy}`;
    taken.push(free);
    return free;
  });
}

function defaultDirectory(path: string): string {
  const name = (path.split('/').at(-1) ?? '').replaceAll(/[^\w.+-]/g, '-').replace(/^[.+-]+/, '');
  return isCloneDirectory(name) ? name.slice(0, 90) : 'repository';
}

// File systems may ignore the case of letters.
const isFree = (taken: readonly string[], directory: string): boolean => {
  const key = `${directory.toLowerCase()}/`;
  return taken.every((other) => {
    const otherKey = `${other.toLowerCase()}/`;
    return !key.startsWith(otherKey) && !otherKey.startsWith(key);
  });
};

/** Returns the values of `session.repository_names`: each repository as owner/name and as host/owner/name, in lower case. */
export function repositoryNames(chosen: readonly ChosenRepository[]): string[] {
  const names = chosen.flatMap(({ usable: { host, path } }) => [path, `${host}/${path}`]);
  return [...new Set(names.map((name) => name.toLowerCase()))];
}

/** Returns the directories of clones in the files that a new session begins with, of repositories that it does not work on. */
export function reservedDirectories(
  chosen: readonly ChosenRepository[],
  inherited: readonly InheritedRepository[] | null,
): string[] {
  const kept = new Set(chosen.map(({ wanted }) => wanted.inherited));
  return (inherited ?? []).filter((each) => each.isCloned && !kept.has(each)).map(({ directory }) => directory);
}

/** Writes the repositories of a new session. Their clones wait for a worker. */
export async function insertRepositories(
  tx: Transaction,
  chosen: readonly ChosenRepository[],
  { id, title, branchTemplate, reserved, now }: NewSession,
): Promise<void> {
  if (chosen.length === 0) return;
  const directories = planDirectories(chosen, reserved);
  const templates = await templatesOf(tx, chosen);
  await tx.prisma.sessionRepository.createMany({
    data: chosen.map(({ wanted, usable }, position) => {
      const template = templates.get(usable.repositoryId) ?? branchTemplate ?? defaultBranchTemplate;
      return {
        sessionId: id,
        position,
        repositoryId: usable.repositoryId,
        gitConnectionId: usable.connectionId,
        host: usable.host,
        path: usable.path,
        requestedRef: wanted.ref ?? null,
        branch: wanted.branch ?? branchName(template, { id, title }),
        isBranchNamed: wanted.branch != null,
        pullRequestNumber: wanted.pullRequest ?? null,
        directory: directories[position] ?? 'repository',
        isReadOnly: usable.isReadOnly,
        ...(wanted.inherited && clonedOf(wanted.inherited)),
        createdAt: now,
        updatedAt: now,
      };
    }),
  });
}

// The clone is in the files that the session begins with.
const clonedOf = ({ baseRef, baseCommit }: InheritedRepository) => ({ baseRef, baseCommit, state: 'READY' });

async function templatesOf(tx: Transaction, chosen: readonly ChosenRepository[]): Promise<Map<string, string>> {
  const rows = await tx.prisma.repository.findMany({
    where: { id: { in: chosen.map(({ usable }) => usable.repositoryId) }, branchTemplate: { not: null } },
    select: { id: true, branchTemplate: true },
  });
  return new Map(rows.flatMap((row) => (row.branchTemplate === null ? [] : [[row.id, row.branchTemplate]])));
}
