import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { repositoryAt, startGitAgent } from '../support/git-agent.ts';
import { forgeAccount, startGitForge } from '../support/git-forge.ts';

async function start(options: Parameters<typeof startGitAgent>[1] = {}) {
  const forge = await startGitForge();
  await forge.addRepository('acme/site');
  const repository = repositoryAt(forge.url, 'acme/site');
  const agent = await startGitAgent([repository], options);
  return { forge, agent, repository };
}

it.each(['0', '1', '2'])('clones and fetches with protocol version %s', async (version) => {
  const { forge, agent } = await start();
  const cloned = await agent.git(
    '',
    '-c',
    `protocol.version=${version}`,
    'clone',
    `${forge.url}/acme/site.git`,
    'site',
  );
  expect(cloned).toMatchObject({ code: 0 });
  const log = await agent.git('site', 'log', '--format=%s');
  expect(log.stdout).toBe('Start\n');
  const head = await forge.git('acme/site', 'rev-parse', 'main');
  await forge.git('acme/site', 'branch', 'next', head);
  expect(await agent.git('site', '-c', `protocol.version=${version}`, 'fetch', 'origin')).toMatchObject({ code: 0 });
  expect((await agent.git('site', 'rev-parse', 'origin/next')).stdout.trim()).toBe(head);
  expect((await agent.git('site', 'remote', 'get-url', 'origin')).stdout).toContain(`127.0.0.1:${agent.gateway.port}`);
  const remote = await agent.git('site', 'config', 'remote.origin.url');
  expect(remote.stdout.trim()).toBe(`${forge.url}/acme/site.git`);
  expect(JSON.stringify([cloned, agent.env])).not.toContain(forgeAccount.password);
});

it('pushes to the own branch, and reports it', async () => {
  const { forge, agent, repository } = await start();
  await agent.git('', 'clone', '-q', `${forge.url}/acme/site`, 'site');
  await writeFile(join(agent.directory, 'site', 'page.html'), '<p>');
  await agent.git('site', 'add', '-A');
  await agent.git('site', 'commit', '-qm', 'Add a page');
  const pushed = await agent.git('site', 'push', 'origin', 'HEAD:refs/heads/switchyard/page-ab12cd');
  expect(pushed.stderr).toContain('[new branch]');
  expect(pushed.code).toBe(0);
  const head = (await agent.git('site', 'rev-parse', 'HEAD')).stdout.trim();
  expect(await forge.git('acme/site', 'rev-parse', 'switchyard/page-ab12cd')).toBe(head);
  const ref = 'refs/heads/switchyard/page-ab12cd';
  expect(agent.pushes).toEqual([
    {
      repository,
      refs: [{ ref, oldId: null, newId: head, outcome: 'accepted', reason: null }],
      packBytes: expect.any(Number),
    },
  ]);
});

it('refuses a push to another branch in words that git shows', async () => {
  const { forge, agent } = await start();
  await agent.git('', 'clone', '-q', `${forge.url}/acme/site`, 'site');
  await agent.git('site', 'commit', '-q', '--allow-empty', '-m', 'Change');
  const before = forge.requests.length;
  const pushed = await agent.git('site', 'push', 'origin', 'HEAD:main', 'HEAD:switchyard/page-ab12cd');
  expect(pushed.code).toBe(1);
  expect(pushed.stderr).toContain('remote: This session may push to switchyard/*-ab12cd only.');
  expect(pushed.stderr).toMatch(
    /! \[remote rejected\] HEAD -> main \(this session may push to its own branches only\)/,
  );
  expect(pushed.stderr).toMatch(/-> switchyard\/page-ab12cd \(not pushed because another ref was refused\)/);
  const sent = forge.requests.slice(before).map(({ method }) => method);
  expect(sent).not.toContain('POST');
});

it('pushes to a repository with SHA-256', async () => {
  const forge = await startGitForge();
  await forge.addRepository('acme/new', { 'README.md': '# New' }, 'sha256');
  const agent = await startGitAgent([repositoryAt(forge.url, 'acme/new')]);
  expect(await agent.git('', 'clone', '-q', `${forge.url}/acme/new`, 'site')).toMatchObject({ code: 0 });
  await agent.git('site', 'commit', '-q', '--allow-empty', '-m', 'Change');
  expect(await agent.git('site', 'push', 'origin', 'HEAD:switchyard/page-ab12cd')).toMatchObject({ code: 0 });
  expect(agent.pushes[0]?.refs[0]).toMatchObject({
    oldId: null,
    newId: expect.stringMatching(/^[0-9a-f]{64}$/),
    outcome: 'accepted',
  });
});
