import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The account of the test git server. */
export const gitAccount = { username: 'ann', password: 'c4n4ry-of-git' };

/** A git server: `git http-backend` behind basic authentication. `team/site.git` has one commit, `team/empty.git` none. */
export async function startGitServer(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const root = mkdtempSync(join(tmpdir(), 'git-server-'));
  const env = { PATH: process.env.PATH, HOME: root, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (args: string[], input = '') =>
    execFileSync('git', args, { cwd: root, env, input, encoding: 'utf8' }).trim();
  mkdirSync(join(root, 'team'));
  for (const name of ['site', 'empty'])
    git(['init', '--quiet', '--bare', '--initial-branch=trunk', `team/${name}.git`]);
  const site = ['--git-dir', 'team/site.git'];
  const tree = git([...site, 'mktree']);
  const identity = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com'];
  const commit = git([...identity, ...site, 'commit-tree', tree, '-m', 'Begin']);
  git([...site, 'update-ref', 'refs/heads/trunk', commit]);
  git([...site, 'config', 'http.receivepack', 'true']);
  const expected = `Basic ${Buffer.from(`${gitAccount.username}:${gitAccount.password}`).toString('base64')}`;
  const server = createServer((incoming, outgoing) => {
    if (incoming.headers.authorization !== expected) {
      outgoing.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
      return;
    }
    const url = new URL(incoming.url ?? '/', 'http://git.test');
    const child = spawn('git', ['http-backend'], {
      env: {
        ...env,
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: '1',
        REQUEST_METHOD: incoming.method,
        PATH_INFO: url.pathname,
        QUERY_STRING: url.search.slice(1),
      },
    });
    const parts: Buffer[] = [];
    child.stdout.on('data', (part: Buffer) => parts.push(part));
    child.on('close', () => {
      const output = Buffer.concat(parts);
      const end = output.indexOf('\r\n\r\n');
      const lines = output.subarray(0, end).toString().split('\r\n');
      const headers = Object.fromEntries(lines.map((line) => line.split(': ', 2) as [string, string]));
      const { Status: status = '200', ...others } = headers;
      outgoing.writeHead(Number.parseInt(status, 10), others).end(output.subarray(end + 4));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      rmSync(root, { recursive: true, force: true });
    },
  };
}
