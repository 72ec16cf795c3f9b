import { lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { call, startApp, type TestApp } from '../support/app.ts';
import { writeProfiles } from '../support/profiles.ts';
import { readEvents, readMessages, waitUntilEnded, waitUntilWaiting } from '../support/session-waits.ts';
import { makeOrganization } from '../support/sessions.ts';
import { uploadTo } from '../support/uploads.ts';

let test: TestApp;
let outsideDir: string;
beforeAll(async () => {
  const agentsConfig = await writeProfiles({ warm_ttl_ms: 0 });
  test = await startApp({
    roles: ['api', 'worker'],
    agentsConfig,
    maxConcurrentSessions: 2,
    maxAttachmentBytes: 1_000,
  });
  outsideDir = await mkdtemp(join(tmpdir(), 'switchyard-outside-'));
});
afterAll(async () => {
  await test.close();
  await rm(outsideDir, { recursive: true });
});

const admin = async (method: string, path: string, body?: unknown) => {
  const answer = await call(test, test.adminToken, method, path, body);
  expect({ path, status: answer.status }).toEqual({ path, status: 200 });
  return answer.body;
};
const makeOrganizationPath = async (name: string) => {
  const { organizationId } = await makeOrganization(test, name);
  return `/v3/organizations/${organizationId.replace('org-', '')}`;
};
const start = async (organizationPath: string, body: object) => {
  const { session_id: id } = await admin('POST', `${organizationPath}/sessions`, body);
  await waitUntilEnded(test, id);
  return id as string;
};
const sendFollowUp = async (organizationPath: string, id: string, message: string, more: object = {}) => {
  await admin('POST', `${organizationPath}/sessions/${id}/messages`, { message, ...more });
  await waitUntilEnded(test, id);
};
const sessionDir = (id: string) => join(test.dataDir, 'sessions', id.replace('devin-', ''), 'ws/.session');
const outputs = async (id: string): Promise<string[]> =>
  (await readEvents(test, id))
    .filter((event) => event.title?.startsWith('Read '))
    .flatMap(({ output }) => output ?? []);
const attachmentsOf = async (organizationPath: string, id: string) => {
  const { items } = await admin('GET', `${organizationPath}/sessions/${id}/attachments`);
  const shown = (items as { name: string; url: string; source: string }[]).map(async ({ name, url, source }) => {
    return `${source}: ${name}: ${await (await fetch(url)).text()}`;
  });
  return Promise.all(shown);
};
const ended = (organizationPath: string, id: string) => admin('GET', `${organizationPath}/sessions/${id}`);

describe('cookies', () => {
  it('are files that only their owner can read, exist while the agent runs, and are never shown', async () => {
    const organizationPath = await makeOrganizationPath('Cookies');
    const jar = `.example.com\tTRUE\t/\tTRUE\t0\tsid\tc4n4ry-cookie-value`;
    await admin('POST', `${organizationPath}/secrets`, { type: 'cookie', key: 'shop/login', value: jar });
    const id = await start(organizationPath, { prompt: 'cat .session/secrets/shop_login\nprompt' });
    expect(await outputs(id)).toEqual(['********']);
    expect((await readMessages(test, id)).at(-1)).toContain(
      'The cookies `shop/login`: in the file `.session/secrets/shop_login`.',
    );
    // Also for an agent that resumes the session.
    await sendFollowUp(organizationPath, id, 'cat .session/secrets/shop_login');
    expect(await outputs(id)).toEqual(['********', '********']);
    // The next run of any session begins after the cleanup of this one.
    await expect.poll(() => readdir(join(sessionDir(id), 'secrets'))).toEqual([]);
  });

  it('are not written through a link of the agent', async () => {
    const organizationPath = await makeOrganizationPath('Links');
    await admin('POST', `${organizationPath}/secrets`, { type: 'cookie', key: 'jar', value: 'sid=c4n4ry-linked' });
    const id = await start(organizationPath, { prompt: 'say x' });
    // The cleanup of the run would create the directory again.
    await expect.poll(() => readdir(join(sessionDir(id), 'secrets'))).toEqual([]);
    await rm(sessionDir(id), { recursive: true });
    await symlink(outsideDir, sessionDir(id));
    await sendFollowUp(organizationPath, id, 'cat .session/secrets/jar');
    expect(await outputs(id)).toEqual(['********']);
    expect(await readdir(outsideDir)).toEqual([]);
    expect((await lstat(sessionDir(id))).isDirectory()).toBe(true);
  });
});

describe('a file in the agent’s outputs directory', () => {
  it('becomes an attachment of the agent at the end of the turn, once, and again after a change', async () => {
    const organizationPath = await makeOrganizationPath('Outputs');
    const id = await start(organizationPath, {
      prompt: 'write .session/outputs/report.md first\nwrite .session/outputs/deep/data.csv 1,2\nwrite other.txt no',
    });
    expect(await attachmentsOf(organizationPath, id)).toEqual([
      'devin: deep-data.csv: 1,2\n',
      'devin: report.md: first\n',
    ]);
    await sendFollowUp(organizationPath, id, 'write .session/outputs/report.md second');
    await sendFollowUp(organizationPath, id, 'say nothing new');
    expect(await attachmentsOf(organizationPath, id)).toEqual([
      'devin: deep-data.csv: 1,2\n',
      'devin: report.md: first\n',
      'devin: report.md: second\n',
    ]);
    const kinds = (await readEvents(test, id)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'ATTACHMENT')).toHaveLength(3);
  });

  it('is read from inside the workspace only, and reported if it is too large', async () => {
    const organizationPath = await makeOrganizationPath('Inside');
    const id = await start(organizationPath, { prompt: 'write real.txt inside' });
    const secret = join(outsideDir, 'secret.txt');
    await writeFile(secret, 'outside');
    const folder = join(sessionDir(id), 'outputs');
    await symlink(secret, join(folder, 'out.txt'));
    await symlink(outsideDir, join(folder, 'dir'));
    await symlink(join(outsideDir, 'nothing'), join(folder, 'nowhere'));
    await symlink('../../real.txt', join(folder, 'in.txt'));
    await mkdir(join(folder, 'empty'));
    await writeFile(join(folder, 'big.bin'), 'b'.repeat(1_001));
    await sendFollowUp(organizationPath, id, 'say done');
    await rm(secret);
    expect(await attachmentsOf(organizationPath, id)).toEqual(['devin: in.txt: inside\n']);
    const { data } = await call(test, test.adminToken, 'POST', '/graphql', {
      query: `{ session(id: "${id}") { events(first: 100) { nodes { ... on NoticeEvent { body } } } } }`,
    }).then(({ body }) => body);
    const notices = data.session.events.nodes.flatMap(({ body }: { body?: string }) => body ?? []);
    expect(notices).toEqual([
      'The file .session/outputs/big.bin could not be kept: it has more than 1000 bytes.',
      // The result is the same whether the object exists or not.
      ...['dir', 'nowhere', 'out.txt'].map(
        (name) => `The file .session/outputs/${name} could not be kept: it leads to no file of the workspace.`,
      ),
    ]);
    expect(await ended(organizationPath, id)).toMatchObject({ status: 'exit', status_detail: 'finished' });
  });

  it('is stored once, also after a crash before its record, and again after a change', async () => {
    const organizationPath = await makeOrganizationPath('Once');
    const id = await start(organizationPath, { prompt: 'write .session/outputs/report.md first' });
    expect(await attachmentsOf(organizationPath, id)).toEqual(['devin: report.md: first\n']);
    const recordFile = join(sessionDir(id), '../../records/outputs.json');
    const before = await readFile(recordFile, 'utf8');
    await rm(recordFile);
    await sendFollowUp(organizationPath, id, 'say nothing new');
    expect(await attachmentsOf(organizationPath, id)).toEqual(['devin: report.md: first\n']);
    expect(await readFile(recordFile, 'utf8')).toBe(before);
    // The record of an earlier version, which had the inode and was beside the workspace.
    const { ino, size, mtimeMs } = await stat(join(sessionDir(id), 'outputs/report.md'));
    await rm(recordFile);
    const earlier = { '.session/outputs/report.md': `${ino} ${size} ${mtimeMs}` };
    await writeFile(join(sessionDir(id), '../../outputs.json'), JSON.stringify(earlier));
    await test.app.services.store.execute('delete from idempotency_key', []);
    await sendFollowUp(organizationPath, id, 'say nothing new');
    expect(await attachmentsOf(organizationPath, id)).toEqual(['devin: report.md: first\n']);
    // The state after a host failed in the middle of a write.
    await writeFile(recordFile, before.slice(0, 10));
    await sendFollowUp(organizationPath, id, 'write .session/outputs/report.md second');
    expect((await attachmentsOf(organizationPath, id)).toSorted()).toEqual([
      'devin: report.md: first\n',
      'devin: report.md: second\n',
    ]);
  });

  it('reveals no names outside of the workspace, even if the directory is a link', async () => {
    const organizationPath = await makeOrganizationPath('Names');
    const { session_id: id } = await admin('POST', `${organizationPath}/sessions`, { prompt: 'ask Now?' });
    await waitUntilWaiting(test, id);
    await mkdir(join(outsideDir, 'deep'));
    onTestFinished(() => rm(join(outsideDir, 'deep'), { recursive: true }));
    await writeFile(join(outsideDir, 'deep', 'c4n4ry-name.txt'), 'outside');
    const folder = join(sessionDir(id), 'outputs');
    await rm(folder, { recursive: true });
    await symlink(outsideDir, folder);
    await sendFollowUp(organizationPath, id, 'yes');
    expect((await lstat(folder)).isSymbolicLink()).toBe(true);
    expect((await readMessages(test, id)).at(-1)).toContain('You answered: yes');
    const { data } = await call(test, test.adminToken, 'POST', '/graphql', {
      query: `{ session(id: "${id}") { events(first: 100) { nodes { ... on NoticeEvent { body } } } } }`,
    }).then(({ body }) => body);
    expect(data.session.events.nodes.flatMap(({ body }: { body?: string }) => body ?? [])).toEqual([]);
    expect(await attachmentsOf(organizationPath, id)).toEqual([]);
  });
});

describe('attachments', () => {
  it('are separate files, even with equal names, and keep the agent’s changes', async () => {
    const organizationPath = await makeOrganizationPath('Twins');
    const organizationId = organizationPath.split('/').at(-1) as string;
    const [one, two] = [
      await uploadTo(test, organizationId, { name: 'same.txt', content: 'the first' }),
      await uploadTo(test, organizationId, { name: 'Same.txt', content: 'the second' }),
    ];
    const id = await start(organizationPath, {
      prompt: 'write .session/attachments/same.txt changed',
      attachment_urls: [one.url],
    });
    await sendFollowUp(organizationPath, id, 'prompt', { attachment_urls: [two.url, one.url] });
    const message = (await readMessages(test, id)).at(-1) as string;
    const paths = [...message.matchAll(/^- `(.*)` \(/gm)].map(([, path]) => path as string);
    const texts = paths.map((path) => readFile(join(sessionDir(id), '..', path), 'utf8'));
    expect(await Promise.all(texts)).toEqual(['the second', 'the first']);
    expect(await readFile(join(sessionDir(id), 'attachments/same.txt'), 'utf8')).toBe('changed\n');
  });

  it('may have any name, and none leads out of their folder', async () => {
    const organizationPath = await makeOrganizationPath('Names');
    const organizationId = organizationPath.split('/').at(-1) as string;
    const names = ['..', '.env', `${'ü'.repeat(200)}.txt`, 'a "quoted" name'];
    const urls = [];
    for (const name of names) urls.push((await uploadTo(test, organizationId, { name, content: 'x' })).url);
    const id = await start(organizationPath, { prompt: 'say x', attachment_urls: urls });
    const files = await readdir(join(sessionDir(id), 'attachments'));
    expect(files).toHaveLength(names.length);
    for (const name of files) expect((await stat(join(sessionDir(id), 'attachments', name))).size).toBe(1);
  });

  it('are, like all files of the service, no part of an agent’s repository', async () => {
    const id = await start(await makeOrganizationPath('Ignored'), { prompt: 'say x' });
    expect(await readFile(join(sessionDir(id), '.gitignore'), 'utf8')).toBe('*\n');
  });
});
