import { execFile } from 'node:child_process';
import {
  appendFile,
  chmod,
  cp,
  link,
  lutimes,
  mkdir,
  readdir,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { plainGit } from '../../test/support/forges/git-backend.ts';
import { ensureRepository } from './git-repository.ts';

const run = promisify(execFile);

/** The number of files of `node_modules`. */
export const ignoredFiles = 20_000;
/** Larger packages have binaries and are left out: projects of this size rarely have several. */
const maxPackageBytes = 40_000_000;

/** The directories of a session in a repository of 100 MB, with 20,000 ignored files. */
export interface BenchWorkspace {
  readonly workspace: string;
  readonly home: string;
  /** Files of the repository that may be changed, as paths in the workspace. */
  readonly sources: readonly string[];
}

/** Creates the directories `workspace` and `home` below a new directory. The clone borrows the repository's objects, as a session's does. */
export async function createBenchWorkspace(
  directory: string,
  onProgress: (text: string) => void,
): Promise<BenchWorkspace> {
  const repository = await ensureRepository(onProgress);
  const workspace = join(directory, 'workspace');
  const home = join(directory, 'home');
  await run('git', ['clone', '-q', '--shared', repository, workspace], { env: plainGit });
  await installPackages(workspace);
  await addOddFiles(join(workspace, 'odd'));
  await createHome(home);
  const { stdout } = await run('git', ['-C', workspace, 'ls-files', '-z'], { env: plainGit, maxBuffer: 1 << 26 });
  return { workspace, home, sources: stdout.split('\0').filter((path) => /\.[cm]?[jt]s$/.test(path)) };
}

/** Copies installed packages until there are 20,000 files. */
export async function installPackages(workspace: string, files = ignoredFiles): Promise<void> {
  await writeFile(join(workspace, '.gitignore'), 'node_modules/\n');
  let left = files;
  for (const name of (await readdir('node_modules')).sort()) {
    if (name.startsWith('.')) continue;
    const source = join('node_modules', name);
    const { files: count, bytes } = await measureFolder(source);
    if (bytes > maxPackageBytes || count > left) continue;
    await cp(source, join(workspace, 'node_modules', name), { recursive: true, verbatimSymlinks: true });
    left -= count;
    if (left === 0) return;
  }
  const rest = join(workspace, 'node_modules/.cache');
  await mkdir(rest, { recursive: true });
  for (; left > 0; left--) await writeFile(join(rest, `part-${left}.json`), `{"part":${left}}\n`);
}

async function measureFolder(path: string): Promise<{ files: number; bytes: number }> {
  let files = 0;
  let bytes = 0;
  for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    files += 1;
    bytes += (await stat(join(entry.parentPath, entry.name))).size;
  }
  return { files, bytes };
}

/** Creates files that backup tools tend to lose: links, modes, times, empty directories, names that are not UTF-8. */
async function addOddFiles(directory: string): Promise<void> {
  await mkdir(join(directory, 'empty/directories'), { recursive: true });
  await writeFile(join(directory, 'executable'), '#!/bin/sh\n', { mode: 0o755 });
  await writeFile(join(directory, 'private'), 'secret\n', { mode: 0o600 });
  await writeFile(join(directory, 'read-only'), 'fixed\n');
  await chmod(join(directory, 'read-only'), 0o444);
  await writeFile(join(directory, 'line\nbreak'), '1\n');
  await writeFile(join(directory, '-rf'), '2\n');
  await writeFile(join(directory, 'Ünïcode 日本 🙂'), '3\n');
  await writeFile(Buffer.concat([Buffer.from(`${directory}/latin1-`), Buffer.from([0xe9, 0xff])]), '4\n');
  await writeFile(join(directory, 'n'.repeat(255)), '5\n');
  await writeFile(join(directory, 'empty-file'), '');
  await writeFile(join(directory, 'old'), '6\n');
  await utimes(join(directory, 'old'), 946_684_800, 946_684_800.123);
  await symlink('old', join(directory, 'link'));
  await lutimes(join(directory, 'link'), 946_684_800, 946_684_800.5);
  await symlink('/nowhere/at all', join(directory, 'dangling-link'));
  await link(join(directory, 'old'), join(directory, 'hard-link'));
  await writeFile(join(directory, 'sparse'), 'start');
  await truncate(join(directory, 'sparse'), 5_000_000);
}

async function createHome(home: string): Promise<void> {
  const state = join(home, '.local/share/agent');
  await mkdir(state, { recursive: true });
  for (let n = 0; n < 40; n++)
    await writeFile(join(state, `message-${n}.json`), JSON.stringify({ n, text: 'words '.repeat(200) }));
  await createDatabase(join(state, 'agent.db'));
}

/** A database of 5 MB in WAL mode, like those of agents. */
async function createDatabase(path: string): Promise<void> {
  const sql = `pragma journal_mode=wal; create table message (id integer primary key, body text);
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
    insert into message select i, hex(randomblob(500)) from n;`;
  await run('sqlite3', [path, sql]).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    await writeFile(path, Buffer.alloc(5_000_000, 'SQLite is not installed. '));
  });
}

/** Changes one line of a source file. */
export async function changeOneLine({ workspace, sources }: BenchWorkspace, n: number): Promise<string> {
  const path = sources[(n * 7_919) % sources.length] as string;
  await appendFile(join(workspace, path), `// Changed by step ${n}.\n`);
  return path;
}
