import { lstat, opendir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { isRefName } from '../ref-names.ts';
import { RepositoryError } from '../repository-error.ts';
import { readHead, readInside } from './read-inside.ts';
import type { Scratch } from './scratch.ts';

/** The commits of a clone to bundle. */
export interface BundleRequest {
  readonly clone: string;
  /** The objects that the clone borrows. */
  readonly objects: string;
  /** Null: all commits. */
  readonly base: string | null;
  /** The name that the head has in the bundle. */
  readonly branch: string;
  readonly maxBytes: number;
}

/**
 * Bundles the commits of a clone's HEAD that its base does not have; null: there are none. Only objects are read from the
 * clone. Rejects with RepositoryError if they could lead out of the clone.
 */
export async function bundleCommits(scratch: Scratch, request: BundleRequest): Promise<Readable | null> {
  const { clone, objects, base, branch, maxBytes } = request;
  const ref = `refs/heads/${branch}`;
  const head = await readHead(clone);
  if (head === null || head === base || !isRefName(ref)) return null;
  await checkObjects(clone, objects);
  const own = join(clone, '.git', 'objects');
  await writeFile(join(scratch.gitDir, 'objects', 'info', 'alternates'), `${objects}\n${own}\n`);
  const excluded = base === null ? [] : [`^${base}`];
  const found = await scratch.git(['rev-list', '--max-count=1', head, ...excluded, '--']);
  if (found.trim() === '') return null;
  await scratch.git(['update-ref', ref, head]);
  return scratch.stream(['bundle', 'create', '-q', '-', ref, ...excluded], maxBytes);
}

const maxObjects = 200_000;

/**
 * Checks that the objects of a clone are ordinary files, and that it borrows from these objects of a mirror or from none: git
 * follows links and the alternates of alternates. Rejects with RepositoryError.
 */
export async function checkObjects(clone: string, objects: string): Promise<void> {
  for (const names of [['.git'], ['.git', 'objects']]) {
    const status = await lstat(join(clone, ...names)).catch(() => null);
    if (!status?.isDirectory()) throw refused();
  }
  const directory = join(clone, '.git', 'objects');
  const alternates = await readInside(directory, ['info', 'alternates'], 8_192);
  const hasAlternates = (await lstat(join(directory, 'info', 'alternates')).catch(() => null)) !== null;
  if (hasAlternates && alternates?.trim() !== objects) throw refused();
  let left = maxObjects;
  const visit = async (path: string, depth: number): Promise<void> => {
    for await (const entry of await opendir(path)) {
      left -= 1;
      const isExpected = depth === 0 ? entry.isDirectory() : entry.isFile();
      if (left < 0 || !isExpected) throw refused();
      if (entry.isDirectory() && entry.name !== 'info') await visit(join(path, entry.name), depth + 1);
    }
  };
  await visit(directory, 0);
}

function refused(): RepositoryError {
  return new RepositoryError('REFUSED_CONTENT', 'The repository of the clone has an unusual form.');
}
