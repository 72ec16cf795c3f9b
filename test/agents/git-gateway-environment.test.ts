import { readdirSync, readFileSync } from 'node:fs';
import { chmod, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { gitEnvironment } from '../../src/agents/git-gateway/git-environment.ts';
import { openGitGateway } from '../../src/agents/git-gateway/git-gateway.ts';
import { ownBranchesOnly, repositoryAt, runGit, startGitAgent } from '../support/git-agent.ts';
import { forgeAccount, makeDirectory, plainGit, startGitForge } from '../support/git-forge.ts';
import { connectRaw } from '../support/raw-http.ts';

const address = { url: 'http://127.0.0.1:4000', key: 'the-key' };

it.each([
  'https://git.example/acme/site.git',
  'https://git@git.example/acme/site.git',
  'git@git.example:acme/site.git',
  'git@git.example:/acme/site.git',
  'ssh://git@git.example/acme/site.git',
  'ssh://git@git.example:22/acme/site.git',
])('sends %s to the gateway', async (url) => {
  const env = { ...plainGit, ...gitEnvironment(address, [{ host: 'git.example', isPlainHttp: false }]) };
  const { stdout } = await runGit('/', ['ls-remote', '--get-url', url], env);
  expect(stdout.trim()).toMatch(/^http:\/\/127\.0\.0\.1:4000\/git\.example\/\/?acme\/site\.git$/);
});

it.each([
  'http://git.example/acme/site.git',
  'https://git.example.evil/acme/site.git',
  'https://other.example/x',
  '/tmp/x',
])('leaves %s as it is', async (url) => {
  const env = { ...plainGit, ...gitEnvironment(address, [{ host: 'git.example', isPlainHttp: false }]) };
  expect((await runGit('/', ['ls-remote', '--get-url', url], env)).stdout.trim()).toBe(url);
});

it('appends to the configuration that a profile sets', async () => {
  const base = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'user.name', GIT_CONFIG_VALUE_0: 'Ada' };
  const env = { ...plainGit, ...base, ...gitEnvironment(address, [], base) };
  const { stdout } = await runGit('/', ['config', '--list'], env);
  expect(stdout).toContain('user.name=Ada\n');
  expect(stdout).toContain('http.http://127.0.0.1:4000/.proxy=\n');
});

it('overrides proxies, headers and helpers of configuration files', async () => {
  const forge = await startGitForge();
  await forge.addRepository('acme/site');
  const agent = await startGitAgent([repositoryAt(forge.url, 'acme/site')]);
  const helper = join(agent.directory, 'helper');
  await writeFile(helper, `#!/bin/sh\necho called >>'${agent.directory}/called'\n`);
  await chmod(helper, 0o755);
  const config = [
    '[http]',
    'proxy = http://127.0.0.1:9',
    'extraHeader = Authorization: Basic eDp5',
    '[credential]',
    `helper = ${helper}`,
  ];
  await writeFile(join(agent.directory, '.gitconfig'), config.join('\n'));
  const env = { ...agent.env, GIT_CONFIG_NOSYSTEM: '1', http_proxy: 'http://127.0.0.1:9' };
  const cloned = await runGit(agent.directory, ['clone', '-q', `${forge.url}/acme/site`, 'site'], env);
  expect(cloned).toMatchObject({ code: 0, stderr: '' });
  const refused = await runGit(agent.directory, ['ls-remote', `${forge.url}/acme/other`], env);
  expect(refused.stderr).toContain('fatal: remote error: This session may not use');
  expect(await readdir(agent.directory)).not.toContain('called');
});

it('clones submodules of repositories that the session may use, and no others', async () => {
  const forge = await startGitForge();
  for (const path of ['acme/site', 'acme/lib', 'acme/secret']) await forge.addRepository(path);
  const agent = await startGitAgent([repositoryAt(forge.url, 'acme/site')], {
    findRepository: (host, path) =>
      path === 'acme/lib' && host === forge.host
        ? repositoryAt(forge.url, path)
        : { refused: 'NOT_PERMITTED', message: `The organization may not use ${path}.` },
    rulesFor: () => ({ ...ownBranchesOnly, allowOtherBranches: true }),
  });
  await agent.git('', 'clone', '-q', `${forge.url}/acme/site`, 'site');
  expect(await agent.git('site', 'submodule', 'add', `${forge.url}/acme/lib`, 'lib')).toMatchObject({ code: 0 });
  expect(await agent.git('site', 'commit', '-qm', 'Add a submodule')).toMatchObject({ code: 0 });
  expect(await agent.git('site', 'push', 'origin', 'HEAD:main')).toMatchObject({ code: 0 });
  expect(await agent.git('', 'clone', '-q', '--recursive', `${forge.url}/acme/site`, 'again')).toMatchObject({
    code: 0,
  });
  expect(await readdir(join(agent.directory, 'again', 'lib'))).toContain('README.md');
  const secret = await agent.git('site', 'submodule', 'add', `${forge.url}/acme/secret`, 'secret');
  expect(secret.stderr).toContain('fatal: remote error: The organization may not use acme/secret.');
});

/** Returns the arguments of all processes, which every user of the machine can read. */
function allArguments(): string[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d+$/.test(name) ? [readFileSync(`/proc/${name}/cmdline`, 'utf8')] : [];
    } catch {
      return [];
    }
  });
}

it('keeps the key and the credential out of files and arguments', async () => {
  const seen: string[] = [];
  const forge = await startGitForge(() => {
    seen.push(...allArguments());
    return false;
  });
  await forge.addRepository('acme/site');
  const agent = await startGitAgent([repositoryAt(forge.url, 'acme/site')]);
  expect(await agent.git('', 'clone', '-q', `${forge.url}/acme/site`, 'site')).toMatchObject({ code: 0 });
  expect(seen.some((each) => each.includes('remote-http'))).toBe(true);
  const secrets = [
    agent.gateway.key,
    forgeAccount.password,
    Buffer.from(`switchyard:${agent.gateway.key}`).toString('base64'),
  ];
  for (const secret of secrets) {
    expect(seen.join('\n')).not.toContain(secret);
    const found = await runGit(agent.directory, ['grep', '--no-index', '-laF', secret], plainGit);
    expect(found).toMatchObject({ code: 1, stdout: '' });
  }
});

it('listens on a socket, and removes it', async () => {
  const directory = await makeDirectory();
  const socketPath = join(directory, 'git.sock');
  const forge = await startGitForge();
  await forge.addRepository('acme/site');
  const gateway = await openGitGateway({
    socketPath,
    repositories: () => [repositoryAt(forge.url, 'acme/site')],
    credentialFor: () => forgeAccount,
    rulesFor: () => ownBranchesOnly,
    onPush: () => undefined,
    addresses: { lookup: null, isAllowed: () => true },
  });
  expect(gateway.port).toBeNull();
  const client = connectRaw(socketPath);
  client.send(
    `GET /${forge.host}/acme/site/info/refs?service=git-upload-pack HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${gateway.key}\r\n\r\n`,
  );
  await client.waitFor(/refs\/heads\/main/);
  await gateway.close();
  expect(await readdir(directory)).toEqual([]);
});
