import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { confineGit } from '../../src/agents/sandbox/confine-git.ts';
import { findProgram } from '../../src/agents/sandbox/program-files.ts';
import { openSnapshot, type Snapshot, type SnapshotRequest } from '../../src/git/diff/snapshot.ts';
import { makeDirectory, plainGit } from './git-forge.ts';

const run = promisify(execFile);
const bwrap = findProgram('bwrap', process.env.PATH ?? '');

/** Confines git if this machine can. */
export const confine: SnapshotRequest['confine'] = bwrap === null ? null : confineGit(bwrap);

/** Runs git in a directory, and returns its output. */
export async function gitIn(directory: string, ...args: string[]): Promise<string> {
  const options = { cwd: directory, env: plainGit, maxBuffer: 2 ** 28 };
  return (await run('git', args, options)).stdout;
}

/** A clone in a workspace, which borrows the objects of a mirror outside of it. */
export interface BorrowingClone {
  /** The parent of everything. */
  readonly root: string;
  readonly workspace: string;
  readonly clone: string;
  readonly mirror: string;
  readonly base: string;
  git(...args: string[]): Promise<string>;
  /** Writes files of the clone. */
  write(files: Readonly<Record<string, string | Buffer>>): Promise<void>;
  /** Opens a snapshot until the end of the test. */
  snapshot(options?: Partial<SnapshotRequest>): Promise<Snapshot>;
  /** Returns the tree of the clone's files by git's own commands. */
  realTree(): Promise<string>;
}

/** Writes files below a directory. */
export async function writeFiles(directory: string, files: Readonly<Record<string, string | Buffer>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), content);
  }
}

/** Creates a clone whose base has these files. */
export async function makeClone(files: Readonly<Record<string, string | Buffer>>): Promise<BorrowingClone> {
  const root = await makeDirectory();
  const [source, mirror, workspace] = [join(root, 'source'), join(root, 'mirror'), join(root, 'workspace')];
  const [clone, temporary] = [join(workspace, 'site'), join(root, 'temporary')];
  for (const path of [source, workspace, temporary]) await mkdir(path);
  await gitIn(source, 'init', '-q', '-b', 'main');
  await writeFiles(source, files);
  await gitIn(source, 'add', '-A', '-f');
  await gitIn(source, 'commit', '-qm', 'Start', '--allow-empty');
  await gitIn(root, 'clone', '-q', '--bare', source, mirror);
  await gitIn(root, 'clone', '-q', '--shared', mirror, clone);
  const git = (...args: string[]) => gitIn(clone, ...args);
  const base = (await git('rev-parse', 'HEAD')).trim();
  return {
    root,
    workspace,
    clone,
    mirror,
    base,
    git,
    write: (changed) => writeFiles(clone, changed),
    async snapshot(options = {}) {
      const snapshot = await openSnapshot({
        workspace,
        directory: 'site',
        objects: join(mirror, 'objects'),
        base,
        temporary,
        path: process.env.PATH ?? '',
        confine,
        signal: new AbortController().signal,
        ...options,
      });
      onTestFinished(() => snapshot.close());
      return snapshot;
    },
    async realTree() {
      await git('add', '-A');
      return (await git('write-tree')).trim();
    },
  };
}
