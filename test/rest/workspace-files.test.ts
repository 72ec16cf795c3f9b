import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { stopClock } from '../support/clock.ts';
import { runMutation } from '../support/people.ts';
import { makeKey } from '../support/principals.ts';
import { damageSegment, type SavedWorkspace, savedFilesAt, saveWorkspace } from '../support/saved-workspace.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const document = 'query($id: ID!, $path: String!) { session(id: $id) { file(path: $path) { downloadUrl } } }';
const linkTo = async (id: string, path: string, token = test.adminToken, app: TestApp = test): Promise<string> =>
  (await graphql(app, token, document, { id, path })).data.session.file.downloadUrl;
const save = async (files: SavedWorkspace['files'], token = test.adminToken) => {
  const id = await createSession(test, {}, token);
  const { segmentIds } = await saveWorkspace(test, id, { files });
  return { id, segmentIds };
};
const get = (url: string, headers: Record<string, string> = {}, method = 'GET') => fetch(url, { method, headers });

describe('a file', () => {
  it('is always a download, which no browser renders', async () => {
    const { id } = await save({
      [`workspace/${Buffer.from('évil "1".html').toString('latin1')}`]: { content: '<script>alert(1)</script>' },
    });
    const url = await linkTo(id, 'évil "1".html');
    expect(url).toMatch(`${test.url}/workspace-files/${id}/`);
    const response = await get(url);
    expect(await response.text()).toBe('<script>alert(1)</script>');
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="_vil _1_.html"; filename*=UTF-8''%C3%A9vil%20%221%22.html`,
      'content-length': '25',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store',
      'accept-ranges': 'bytes',
    });
  });

  it('can be read in parts, and is not sent again to a client that has it', async () => {
    const { id } = await save({ 'workspace/a.txt': { content: '0123456789' }, 'workspace/empty': { content: '' } });
    const url = await linkTo(id, 'a.txt');
    const part = await get(url, { range: 'bytes=2-4' });
    expect([part.status, await part.text(), part.headers.get('content-range')]).toEqual([206, '234', 'bytes 2-4/10']);
    expect(await (await get(url, { range: 'bytes=-3' })).text()).toBe('789');
    expect(await (await get(url, { range: 'bytes=8-99' })).text()).toBe('89');
    const beyond = await get(url, { range: 'bytes=10-' });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, 'bytes */10']);
    const etag = part.headers.get('etag') ?? '';
    expect((await get(url, { 'if-none-match': etag })).status).toBe(304);
    expect((await get(url, { 'range': 'bytes=0-0', 'if-range': etag })).status).toBe(206);
    expect((await get(url, { 'range': 'bytes=0-0', 'if-range': '"other"' })).status).toBe(200);
    const head = await get(url, { range: 'bytes=0-0' }, 'HEAD');
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '10', '']);
    expect(await (await get(await linkTo(id, 'empty'))).text()).toBe('');
    expect((await get(url, {}, 'POST')).status).toBe(405);
  });

  it('of 2 GB is streamed, also from its middle', async () => {
    const part = Buffer.alloc(524_288, 'switchyard ');
    const { id } = await save({ 'workspace/huge': { content: part, repeat: 4_097 } });
    const size = part.length * 4_097;
    const url = await linkTo(id, 'huge');
    const response = await get(url);
    expect(Number(response.headers.get('content-length'))).toBe(size);
    // It is read at the pace of the client: all of it would take some seconds.
    const reader = response.body?.getReader();
    for (let bytes = 0; bytes < 64 * 1_048_576; ) bytes += (await reader?.read())?.value?.byteLength ?? 0;
    await reader?.cancel();
    const from = 2 ** 31 - 5;
    const middle = await get(url, { range: `bytes=${from}-${from + 9}` });
    const expected = Buffer.concat([part, part]).subarray(from % part.length, (from % part.length) + 10);
    expect(Buffer.from(await middle.arrayBuffer())).toEqual(expected);
  });

  it('that is damaged is refused, or breaks off, but never looks complete', async () => {
    const small = await save({ 'workspace/a.txt': { content: 'a'.repeat(400_000) } });
    const url = await linkTo(small.id, 'a.txt');
    // The manifest stays in the memory of the process.
    for (const segmentId of small.segmentIds) await damageSegment(test, segmentId, 70);
    const refused = await get(url);
    expect(refused.status).toBe(409);
    expect(await refused.json()).toEqual({
      detail: 'The checkpoint is damaged. Choose another one.',
    });
    const parts = Buffer.alloc(20 * 1_048_576);
    for (let at = 0; at < parts.length; at += 4) parts.writeUInt32BE(Math.imul(at, 2_654_435_761) >>> 0, at);
    const large = await save({ 'workspace/b.bin': { content: parts } });
    const other = await linkTo(large.id, 'b.bin');
    await damageSegment(test, large.segmentIds.at(-1) ?? '', 70);
    const broken = await get(other);
    expect(broken.status).toBe(200);
    await expect(broken.arrayBuffer()).rejects.toThrow();
  });
});

describe('a directory', () => {
  it('is a tar archive with its links and modes', async () => {
    const long = 'd'.repeat(120);
    const { id } = await save({
      'workspace/src/run.sh': { content: '#!/bin/sh\n', mode: 0o4755 },
      [`workspace/src/${long}/${long}/${long}.txt`]: { content: 'deep' },
      [`workspace/src/${Buffer.from('ü\n').toString('latin1')}`]: { content: 'name' },
      'workspace/src/bytes\xff': { content: 'raw' },
      'workspace/src/out': { target: '../../../etc/passwd' },
      'workspace/src/to-long': { target: `${long}/${long}` },
      'workspace/src/empty': {},
      'workspace/other.txt': { content: 'not this' },
      'home/.secret': { content: 'not this' },
    });
    const response = await get(await linkTo(id, 'src'));
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/x-tar',
      'content-disposition': `attachment; filename="src.tar"; filename*=UTF-8''src.tar`,
      'cache-control': 'private, no-store',
    });
    const directory = await mkdtemp(join(tmpdir(), 'switchyard-test-'));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    await writeFile(join(directory, 'a.tar'), Buffer.from(await response.arrayBuffer()));
    execFileSync('tar', ['-xf', 'a.tar'], { cwd: directory });
    const at = (...names: string[]) => join(directory, 'src', ...names);
    expect(await readFile(at(long, long, `${long}.txt`), 'utf8')).toBe('deep');
    expect(await readFile(at('ü\n'), 'utf8')).toBe('name');
    expect(await readFile(at('bytes\\xff'), 'utf8')).toBe('raw');
    expect(await readlink(at('out'))).toBe('../../../etc/passwd');
    expect(await readlink(at('to-long'))).toBe(`${long}/${long}`);
    expect((await stat(at('empty'))).isDirectory()).toBe(true);
    const program = await stat(at('run.sh'));
    // Without the bit that would run it with the rights of its owner.
    expect([program.mode & 0o7777, program.mtimeMs]).toEqual([
      0o755,
      Math.floor(savedFilesAt.getTime() / 1_000) * 1_000,
    ]);
    await expect(stat(join(directory, 'other.txt'))).rejects.toThrow();
    const whole = await get(await linkTo(id, ''));
    expect(whole.headers.get('content-disposition')).toContain('workspace.tar');
    const names = execFileSync('tar', ['-t'], { input: Buffer.from(await whole.arrayBuffer()), encoding: 'utf8' });
    expect(names).toContain('workspace/other.txt');
    expect(names).not.toContain('secret');
  });

  it('breaks off if a file in it is damaged, and ends when the client leaves', async () => {
    const part = createHash('sha256').update('x').digest();
    const content = Buffer.alloc(524_288, part);
    const { id } = await save({ 'workspace/big': { content, repeat: 200 } });
    const ended = new AbortController();
    const response = await fetch(await linkTo(id, ''), { signal: ended.signal });
    const reader = response.body?.getReader();
    await reader?.read();
    expect(test.app.services.openStreams.count().stream).toBe(1);
    ended.abort();
    await expect.poll(() => test.app.services.openStreams.count().stream).toBe(0);
    expect(test.app.services.liveViewers.count()).toBe(0);
    const damaged = await save({ 'workspace/a.txt': { content: 'a' } });
    const link = await linkTo(damaged.id, '');
    for (const segmentId of damaged.segmentIds) await damageSegment(test, segmentId, 70);
    expect((await get(link)).status).toBe(409);
    expect(test.app.services.openStreams.count().stream).toBe(0);
  });
});

describe('a link', () => {
  it('is valid unchanged, for ten minutes', async () => {
    const clock = stopClock(test);
    const { id } = await save({ 'workspace/a.txt': { content: 'a' }, 'workspace/b.txt': { content: 'b' } });
    const url = await linkTo(id, 'a.txt');
    const other = await save({ 'workspace/a.txt': { content: 'other' } });
    const changed = (change: (copy: URL) => void) => {
      const copy = new URL(url);
      change(copy);
      return get(copy.href);
    };
    const forged = await Promise.all([
      changed(({ searchParams }) => searchParams.set('path', 'b.txt')),
      changed(({ searchParams }) => searchParams.set('path', '../home/.secret')),
      changed(({ searchParams }) => searchParams.set('archive', 'tar')),
      changed(({ searchParams }) => searchParams.set('apiKeyId', 'x')),
      changed(({ searchParams }) => searchParams.set('expires', '9999999999')),
      changed(({ searchParams }) => searchParams.delete('signature')),
      changed((copy) => {
        copy.pathname = copy.pathname.replace(id, other.id);
      }),
      get(`${test.url}/workspace-files/`),
    ]);
    expect(forged.map(({ status }) => status)).toEqual(forged.map(() => 403));
    clock.advance(9 * 60_000);
    expect((await get(url)).status).toBe(200);
    clock.advance(2 * 60_000);
    expect(await (await get(url)).json()).toEqual({ detail: 'This link has expired. Request a new one.' });
  });

  it('ends with the key that asked for it, and with its permission', async () => {
    const { token, organizationId, serviceUserId } = await makeOrganization(test, 'Keys');
    const { id } = await save({ 'workspace/a.txt': { content: 'a' } }, token);
    const second = await makeKey(test, { kind: 'SERVICE_USER', serviceUserId });
    const url = await linkTo(id, 'a.txt', second);
    expect((await get(url)).status).toBe(200);
    const apiKeyId = `key-${new URL(url).searchParams.get('apiKeyId')}`;
    await runMutation(test, 'revokeApiKey', '', { apiKeyId });
    expect((await get(url)).status).toBe(401);
    const mine = await linkTo(id, 'a.txt', token);
    await runMutation(test, 'deleteOrganization', '', { organizationId });
    expect([401, 403, 404]).toContain((await get(mine)).status);
  });

  it('counts against the REST limit of its key, and takes one of its streams', async () => {
    const limited = await startApp({ rateLimitRest: 3, maxSockets: 1 });
    onTestFinished(() => limited.close());
    stopClock(limited);
    const id = await createSession(limited);
    const content = Buffer.alloc(524_288);
    const files = { 'workspace/a.txt': { content: 'a' }, 'workspace/big': { content, repeat: 200 } };
    await saveWorkspace(limited, id, { files });
    const url = await linkTo(id, 'a.txt', limited.adminToken, limited);
    const first = await get(url);
    expect([first.status, first.headers.get('ratelimit-limit')]).toEqual([200, '3']);
    await first.text();
    const open = await get(await linkTo(id, 'big', limited.adminToken, limited));
    const full = await get(url);
    expect([full.status, await full.json()]).toEqual([429, { detail: expect.stringContaining('At most 1') }]);
    await open.body?.cancel();
    const refused = await get(url);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, expect.any(String)]);
  });
});
