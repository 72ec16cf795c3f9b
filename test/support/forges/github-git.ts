import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RawHandler } from './forge-server.ts';
import { isPush, plainGit, serveGit } from './git-backend.ts';

/** Calls the API of the emulator with a token. Throws for a status from 300 on. */
export type CallGithub = (token: string, method: string, path: string, body?: unknown) => Promise<any>;

/** The git server of an emulated GitHub, whose own git is read-only. */
export interface GithubGit {
  readonly handle: RawHandler;
  /** Runs git in a repository, and returns its output. */
  git(path: string, ...args: string[]): Promise<string>;
  close(): void;
}

/**
 * Starts a git server of these repositories, with the commits of the emulator, which computes the same hashes as git.
 * Accepts the emulator's tokens as passwords. `onRequest` gets the user name and password of each request, as text. Before a push is answered, the emulator has its commits and branches.
 */
export async function openGithubGit(
  call: CallGithub,
  owner: string,
  repositories: readonly string[],
  onRequest: (account: string) => void,
): Promise<GithubGit> {
  const root = mkdtempSync(join(tmpdir(), 'github-git-'));
  const openRepository = (path: string) => gitIn(join(root, `${path}.git`));
  for (const path of repositories) {
    mkdirSync(join(root, `${path}.git`), { recursive: true });
    const repository = openRepository(path);
    await repository.git('init', '-q', '--bare', '-b', 'main');
    await repository.git('config', 'http.receivepack', 'true');
    await importMain(repository, (method, rest) => call(owner, method, `/repos/${path}${rest}`));
  }
  return {
    git: (path, ...args) => openRepository(path).git(...args),
    handle(request, response) {
      const path = /^\/([^/]+\/[^/]+)\.git\//.exec(request.url ?? '')?.[1];
      if (path === undefined || !repositories.includes(path)) return false;
      const account = Buffer.from(/^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '', 'base64');
      const token = account.toString().replace(/^[^:]*:/, '');
      const refuse = (status: number) =>
        void response.writeHead(status, { 'www-authenticate': 'Basic realm="GitHub"' }).end();
      if (token === '') {
        refuse(401);
        return true;
      }
      onRequest(account.toString());
      const repo = `/repos/${path}`;
      // A push needs what the API needs for a new object.
      const probe = isPush(request)
        ? call(token, 'POST', `${repo}/git/blobs`, { content: '' })
        : call(token, 'GET', repo);
      const callRepository: CallRepository = (method, rest, body) => call(token, method, repo + rest, body);
      const afterPush = () => exportBranches(openRepository(path), callRepository);
      probe.then(
        () => serveGit(root, request, response, afterPush),
        () => refuse(403),
      );
      return true;
    },
    close: () => rmSync(root, { recursive: true, force: true }),
  };
}

type CallRepository = (method: string, rest: string, body?: unknown) => Promise<any>;

function gitIn(directory: string) {
  const raw = (args: readonly string[], input: string | Buffer = '') =>
    new Promise<Buffer>((resolve, reject) => {
      const options = { env: plainGit, encoding: 'buffer', maxBuffer: 16 * 1_024 * 1_024 } as const;
      const child = execFile('git', ['-C', directory, ...args], options, (error, stdout) =>
        error ? reject(error) : resolve(stdout),
      );
      child.stdin?.on('error', () => undefined).end(input);
    });
  return { raw, git: async (...args: string[]) => (await raw(args)).toString().trim() };
}

type GitOfRepository = ReturnType<typeof gitIn>;

async function importMain({ git, raw }: GitOfRepository, call: CallRepository): Promise<void> {
  const { commit: head } = await call('GET', '/branches/main');
  const { tree, author, committer, message } = await call('GET', `/git/commits/${head.sha}`);
  const { tree: entries } = await call('GET', `/git/trees/${tree.sha}`);
  for (const { sha } of entries) {
    const { content } = await call('GET', `/git/blobs/${sha}`);
    await raw(['hash-object', '-w', '--stdin'], Buffer.from(content, 'base64'));
  }
  const lines = entries.map((each: Record<string, string>) => `${each.mode} ${each.type} ${each.sha}\t${each.path}\n`);
  await raw(['mktree'], lines.join(''));
  const by = (role: string, { name, email, date }: Record<string, string>) =>
    `${role} ${name} <${email}> ${Math.floor(Date.parse(date ?? '') / 1_000)} +0000\n`;
  const content = `tree ${tree.sha}\n${by('author', author)}${by('committer', committer)}\n${message}\n`;
  const made = (await raw(['hash-object', '-t', 'commit', '-w', '--stdin'], content)).toString().trim();
  if (made !== head.sha) throw new Error(`The commit ${head.sha} of GitHub is ${made} for git.`);
  await git('update-ref', 'refs/heads/main', made);
}

/** Brings the branches of the git server to the emulator, with their commits. */
async function exportBranches(repository: GitOfRepository, call: CallRepository): Promise<void> {
  const { git } = repository;
  const refs = (await git('for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads')).split('\n');
  const listed: { ref: string; object: { sha: string } }[] = await call('GET', '/git/matching-refs/heads');
  const known = new Map(listed.map(({ ref, object }) => [ref, object.sha]));
  for (const [sha = '', ref = ''] of refs.map((line) => line.split(' '))) {
    const before = known.get(ref);
    if (before === sha) continue;
    const exported = ref === 'refs/heads/main' && before !== undefined ? before : 'refs/heads/main';
    const commits = await git('rev-list', '--reverse', '--topo-order', sha, `^${exported}`);
    for (const commit of commits.split('\n').filter(Boolean)) await exportCommit(repository, call, commit);
    if (before === undefined) await call('POST', '/git/refs', { ref, sha });
    else await call('PATCH', `/git/${ref}`, { sha, force: true });
  }
}

async function exportCommit({ git, raw }: GitOfRepository, call: CallRepository, commit: string): Promise<void> {
  const listed = (await git('ls-tree', '-r', commit)).split('\n').filter(Boolean);
  const entries = listed.map((line) => /^(?<mode>\d+) (?<type>\w+) (?<sha>\w+)\t(?<path>.*)$/.exec(line)?.groups);
  for (const entry of entries) {
    const content = (await raw(['cat-file', 'blob', entry?.sha ?? ''])).toString('base64');
    await call('POST', '/git/blobs', { content, encoding: 'base64' });
  }
  const { sha: tree } = await call('POST', '/git/trees', { tree: entries });
  const format = ['an', 'ae', 'aI', 'cn', 'ce', 'cI', 'P', 'B'].map((field) => `%${field}`).join('%x00');
  const shown = (await raw(['show', '-s', `--format=${format}`, commit])).toString().slice(0, -1);
  const [authorName, authorEmail, authorDate, name, email, date, parents = '', message] = shown.split('\0');
  const made = await call('POST', '/git/commits', {
    ...{ message, tree, parents: parents.split(' ').filter(Boolean) },
    author: { name: authorName, email: authorEmail, date: authorDate },
    committer: { name, email, date },
  });
  if (made.sha !== commit) throw new Error(`The commit ${commit} is ${made.sha} at GitHub.`);
}
