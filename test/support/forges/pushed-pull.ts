import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { plainGit } from '../git-forge.ts';
import { personToken, type TestGithub } from './github.ts';

const run = promisify(execFile);
let branches = 0;

/** A pull request of `acme/site` at the emulated GitHub. */
export interface PushedPull {
  readonly number: number;
  readonly url: string;
  readonly branch: string;
  /** The commit of its head. */
  readonly commit: string;
}

/** Commits files to a branch of `acme/site`, and pushes it as the person `octocat`. Returns the new commit. */
export async function pushFiles(
  github: TestGithub,
  branch: string,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const work = await mkdtemp(join(tmpdir(), 'pushed-'));
  const env = { ...plainGit, GIT_TERMINAL_PROMPT: '0' };
  const git = async (...args: string[]) => (await run('git', args, { cwd: work, env })).stdout.trim();
  await git('clone', '-q', `http://octocat:${personToken}@${new URL(github.url).host}/acme/site.git`, '.');
  if (branch !== 'main') await git('checkout', '-q', '-b', branch);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(work, path)), { recursive: true });
    await writeFile(join(work, path), text);
  }
  await git('add', '-A');
  await git('commit', '-qm', `Change ${Object.keys(files).join(', ')} ${branches}`);
  await git('push', '-q', 'origin', branch);
  const commit = await git('rev-parse', 'HEAD');
  await rm(work, { recursive: true });
  return commit;
}

/** Pushes a branch that adds `lines.txt`, and opens a pull request of it with the text `body`. The github needs `hasGit`. */
export async function pushPull(github: TestGithub, body: string): Promise<PushedPull> {
  branches += 1;
  const branch = `feature-${branches}`;
  const commit = await pushFiles(github, branch, { 'lines.txt': 'one\ntwo\n' });
  const pull = { title: 'Add lines', body, head: branch, base: 'main' };
  const { number } = (await github.person('POST', '/repos/acme/site/pulls', pull)) as { number: number };
  await github.git?.git('acme/site', 'update-ref', `refs/pull/${number}/head`, commit);
  return { number, branch, commit, url: `${github.url}/acme/site/pull/${number}` };
}

/**
 * Commits files to the branch `main` in the git server's own directory, without a push: no webhook and no credential. The emulator
 * learns of the commit at the next push.
 */
export async function commitToMain(github: TestGithub, files: Readonly<Record<string, string>>): Promise<void> {
  const git = (...args: string[]) => github.git?.git('acme/site', ...args) ?? Promise.reject(new Error('No git.'));
  const work = await mkdtemp(join(tmpdir(), 'committed-'));
  await git('read-tree', 'main');
  for (const [n, [path, text]] of Object.entries(files).entries()) {
    await writeFile(join(work, String(n)), text);
    const id = await git('hash-object', '-w', join(work, String(n)));
    await git('update-index', '--add', '--cacheinfo', `100644,${id},${path}`);
  }
  const commit = await git('commit-tree', '-p', 'main', '-m', 'Change files', await git('write-tree'));
  await git('update-ref', 'refs/heads/main', commit);
  await rm(work, { recursive: true });
}
