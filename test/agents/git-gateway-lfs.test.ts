import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { GitGatewayOptions } from '../../src/agents/git-gateway/git-gateway.ts';
import { repositoryAt, runGit, startGitAgent } from '../support/git-agent.ts';
import { forgeAccount, type Intercept, plainGit, startGitForge, storeSecret } from '../support/git-forge.ts';

const haveLfs = (() => {
  try {
    execFileSync('git', ['lfs', 'version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

const own = 'switchyard/page-ab12cd';

async function start(options: Partial<GitGatewayOptions> = {}, intercept?: Intercept) {
  const forge = await startGitForge(intercept);
  await forge.addRepository('acme/site', { '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n' });
  const agent = await startGitAgent([repositoryAt(forge.url, 'acme/site')], options);
  await agent.git('', 'lfs', 'install', '--skip-repo');
  const api = (path: string, body: object, init: RequestInit = {}) =>
    fetch(`${agent.url}/${forge.host}/acme/site.git/info/lfs/${path}`, {
      method: 'POST',
      headers: { 'authorization': `Bearer ${agent.gateway.key}`, 'content-type': 'application/vnd.git-lfs+json' },
      body: JSON.stringify(body),
      ...init,
    });
  return { forge, agent, api };
}

const oid = 'c'.repeat(64);

it.runIf(haveLfs)('uploads and downloads objects with git-lfs, without any secret at the agent', async () => {
  const { forge, agent } = await start();
  await agent.git('', 'clone', '-q', `${forge.url}/acme/site`, 'site');
  const bytes = randomBytes(700_000);
  await writeFile(join(agent.directory, 'site', 'large.bin'), bytes);
  await agent.git('site', 'add', '-A');
  await agent.git('site', 'commit', '-qm', 'Add a large file');
  const pushed = await agent.git('site', 'push', 'origin', `HEAD:${own}`);
  expect(pushed).toMatchObject({ code: 0 });
  expect(pushed.stderr).not.toContain('lock');
  expect([...forge.objects.values()]).toEqual([bytes]);
  const cloned = await agent.git('', 'clone', '-q', '-b', own, `${forge.url}/acme/site`, 'copy');
  expect(cloned).toMatchObject({ code: 0 });
  expect(await readFile(join(agent.directory, 'copy', 'large.bin'))).toEqual(bytes);
  const found = await runGit(
    agent.directory,
    ['grep', '--no-index', '-laE', `${forgeAccount.password}|${storeSecret}`],
    plainGit,
  );
  expect(found).toMatchObject({ code: 1, stdout: '' });
});

it.runIf(haveLfs)('shows the reason for a refused upload', async () => {
  const { forge, agent } = await start({
    rulesFor: () => ({ refused: 'READ_ONLY', message: 'acme/site is read-only for this session.' }),
  });
  await agent.git('', 'clone', '-q', `${forge.url}/acme/site`, 'site');
  await writeFile(join(agent.directory, 'site', 'large.bin'), 'large');
  await agent.git('site', 'add', '-A');
  await agent.git('site', 'commit', '-qm', 'Add a large file');
  const pushed = await agent.git('site', 'lfs', 'push', '--all', 'origin');
  expect(pushed.code).not.toBe(0);
  expect(pushed.stderr + pushed.stdout).toContain('acme/site is read-only for this session.');
  expect(forge.objects.size).toBe(0);
});

it('seals addresses and headers of the object store', async () => {
  const { forge, agent, api } = await start();
  forge.objects.set(oid, Buffer.from('12345'));
  const response = await api('objects/batch', {
    operation: 'download',
    transfers: ['tus', 'ssh'],
    objects: [{ oid, size: 5 }],
  });
  const text = await response.text();
  expect(text).not.toMatch(/canary|\/store\//);
  const { href, header } = JSON.parse(text).objects[0].actions.download;
  expect(header).toEqual({});
  expect(href).toMatch(new RegExp(`^${agent.url}/`));
  const key = { authorization: `Bearer ${agent.gateway.key}` };
  expect(await (await fetch(href, { headers: key })).text()).toBe('12345');
  expect((await fetch(href)).status).toBe(401);
  expect((await fetch(href, { headers: key, method: 'PUT', body: '12345' })).status).toBe(404);
  expect((await fetch(href.slice(0, -1) + (href.endsWith('A') ? 'B' : 'A'), { headers: key })).status).toBe(404);
  // The forge's credential does not go to the store, which has its own.
  expect(forge.requests.find(({ url }) => url.startsWith('/store/'))?.headers.authorization).toBeUndefined();
});

it.each([
  { what: 'another method', path: 'objects/batch', body: {}, status: 404, init: { method: 'PUT' } },
  { what: 'locks', path: 'locks/verify', body: {}, status: 404 },
  { what: 'a batch without objects', path: 'objects/batch', body: { operation: 'download' }, status: 422 },
  { what: 'another operation', path: 'objects/batch', body: { operation: 'delete', objects: [] }, status: 422 },
  {
    what: 'an id that is a path',
    path: 'objects/batch',
    body: { operation: 'download', objects: [{ oid: '../x', size: 1 }] },
    status: 422,
  },
  {
    what: 'too many objects',
    path: 'objects/batch',
    body: { operation: 'download', objects: Array.from({ length: 1_001 }, () => ({ oid, size: 1 })) },
    status: 422,
  },
])('refuses $what', async ({ path, body, status, init }) => {
  const { forge, api } = await start();
  expect((await api(path, body, init)).status).toBe(status);
  expect(forge.requests).toEqual([]);
});

const batchAnswer =
  (answer: (host: string) => object): Intercept =>
  (request, response) => {
    if (!request.url?.endsWith('/objects/batch')) return false;
    response
      .writeHead(200, { 'content-type': 'application/vnd.git-lfs+json' })
      .end(JSON.stringify(answer(request.headers.host ?? '')));
    return true;
  };

it.each([
  { what: 'an object that nobody asked for', answer: () => ({ objects: [{ oid: 'd'.repeat(64), size: 1 }] }) },
  { what: 'wrong types', answer: () => ({ objects: [{ oid, size: 5, actions: { download: { href: 7 } } }] }) },
  { what: 'another transfer', answer: () => ({ transfer: 'tus', objects: [] }) },
  {
    what: 'a long address',
    answer: () => ({ objects: [{ oid, size: 5, actions: { download: { href: `http://x/${'x'.repeat(20_000)}` } } }] }),
  },
])('refuses a batch response with $what', async ({ answer }) => {
  const { api } = await start({}, batchAnswer(answer));
  const response = await api('objects/batch', { operation: 'download', objects: [{ oid, size: 5 }] });
  expect(response.status).toBe(502);
  expect(await response.json()).toEqual({ message: expect.stringMatching(/^127\.0\.0\.1/) });
});

it.each([
  { what: 'an address that is not allowed', href: () => 'http://169.254.169.254/latest', status: 403 },
  { what: 'another scheme', href: () => 'file:///etc/passwd', status: 403 },
  {
    what: 'an object that is longer than announced',
    href: (host: string) => `http://${host}/store/${oid}?signature=x`,
    status: 200,
  },
])('does not pass on $what', async ({ href, status }) => {
  const isAllowed = (url: URL) => url.hostname === '127.0.0.1';
  const answer = (host: string) => ({
    objects: [
      {
        oid,
        size: 5,
        actions: {
          download: {
            href: href(host),
            header: { 'X-Store-Key': storeSecret, 'Host': 'x', 'Transfer-Encoding': 'chunked' },
          },
        },
      },
    ],
  });
  const { forge, agent, api } = await start({ addresses: { lookup: null, isAllowed } }, batchAnswer(answer));
  forge.objects.set(oid, Buffer.alloc(100_000));
  const batch = (await (await api('objects/batch', { operation: 'download', objects: [{ oid, size: 5 }] })).json()) as {
    objects: { actions: { download: { href: string } } }[];
  };
  const address = batch.objects[0]?.actions.download.href ?? '';
  const response = fetch(address, { headers: { authorization: `Bearer ${agent.gateway.key}` } });
  if (status === 200) await expect(response.then((found) => found.arrayBuffer())).rejects.toThrow();
  else expect((await response).status).toBe(status);
});

it('uploads no more and no fewer bytes than announced', async () => {
  const { forge, agent, api } = await start();
  const batch = (await (await api('objects/batch', { operation: 'upload', objects: [{ oid, size: 5 }] })).json()) as {
    objects: { actions: { upload: { href: string } } }[];
  };
  const href = batch.objects[0]?.actions.upload.href ?? '';
  const headers = { authorization: `Bearer ${agent.gateway.key}` };
  expect((await fetch(href, { method: 'PUT', headers, body: '123456' })).status).toBe(422);
  expect(forge.requests.filter(({ url }) => url.startsWith('/store/'))).toEqual([]);
  // The store checks the content.
  const wrong = await fetch(href, { method: 'PUT', headers, body: '12345' });
  expect([wrong.status, await wrong.json()]).toEqual([
    422,
    { message: expect.stringContaining('answered with status 422') },
  ]);
});
