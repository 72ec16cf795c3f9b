import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { deleteOrphanedAttachments } from '../../src/domain/sessions/attachments/orphans.ts';
import { call, startApp, type TestApp } from '../support/app.ts';
import { readMessages, waitUntilEnded } from '../support/session-waits.ts';
import { makeOrganization } from '../support/sessions.ts';
import { linkOf, readStoredFiles, upload, uploadTo } from '../support/uploads.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startApp({ roles: ['api', 'worker'], maxConcurrentSessions: 2 });
});
afterAll(() => test.close());

const sessionsOf = (organizationId: string) => `/v3/organizations/${organizationId}/sessions`;
const admin = (method: string, path: string, body?: unknown) => call(test, test.adminToken, method, path, body);
const start = async (organizationId: string, body: object) => {
  const made = await admin('POST', sessionsOf(organizationId), body);
  expect(made.body).toMatchObject({ session_id: expect.any(String) });
  return made.body.session_id as string;
};
const listed = async (organizationId: string, sessionId: string) =>
  (await admin('GET', `${sessionsOf(organizationId)}/${sessionId}/attachments`)).body.items;
const urlsIn = (text: string) => [...text.matchAll(/ATTACHMENT:"([^"]+)"/g)].map(([, url]) => url as string);
const textAt = async (url: string) => (await fetch(url)).text();

describe('attachments of a session', () => {
  it('are lines of its prompt and its messages, in its list, and available to the agent', async () => {
    const { organizationId } = test;
    const one = await uploadTo(test, organizationId, { name: 'one 1.txt', content: 'the first' });
    const two = await uploadTo(test, organizationId, { name: 'two.txt', content: 'the second' });
    const id = await start(organizationId, { prompt: 'prompt', attachment_urls: [one.url] });
    await waitUntilEnded(test, id);
    const sent = await admin('POST', `${sessionsOf(organizationId)}/${id}/messages`, {
      message: 'prompt',
      attachment_urls: [two.url, one.attachment_id],
    });
    expect(sent.status).toBe(200);
    await waitUntilEnded(test, id);

    const messages = await readMessages(test, id);
    const bare = (name: string) => `${test.url}/attachments/[0-9a-f]{32}/${name}`;
    expect(messages[0]).toMatch(new RegExp(`^INITIAL_USER_MESSAGE: prompt\n\nATTACHMENT:"${bare('one%201.txt')}"$`));
    const lines = `ATTACHMENT:"${bare('two.txt')}"\nATTACHMENT:"${bare('one%201.txt')}"`;
    expect(messages.find((each) => each.startsWith('USER_MESSAGE'))).toMatch(
      new RegExp(`^USER_MESSAGE: prompt\n\n${lines}$`),
    );
    // The demo agent prints its prompt: each line has a link that needs no key.
    const urls = messages.filter((each) => each.startsWith('AGENT_MESSAGE')).flatMap(urlsIn);
    expect(await Promise.all(urls.map(textAt))).toEqual(['the first', 'the second', 'the first']);

    const items = await listed(organizationId, id);
    expect(items).toEqual([
      {
        attachment_id: one.attachment_id,
        name: 'one 1.txt',
        url: expect.any(String),
        source: 'user',
        content_type: 'text/plain',
      },
      expect.objectContaining({ attachment_id: two.attachment_id }),
    ]);
    expect(await Promise.all(items.map((item: { url: string }) => textAt(item.url)))).toEqual([
      'the first',
      'the second',
    ]);
  });

  it('are found in prompts of version 1 in the clients’ form; other URLs stay unchanged', async () => {
    const { body: url } = await upload(test, test.v1Key, '/v1/attachments', { name: 'a.txt', content: 'from v1' });
    const foreign = 'https://example.com/attachments/0123456789abcdef0123456789abcdef/a.txt';
    const prompt = `prompt\nATTACHMENT:"${url}"\nATTACHMENT:"${foreign}"`;
    const made = await call(test, test.v1Key, 'POST', '/v1/sessions', { prompt });
    const id = made.body.session_id.replace('devin-', '');
    await waitUntilEnded(test, id);
    const messages = await readMessages(test, id);
    expect(messages[0]).toBe(`INITIAL_USER_MESSAGE: ${prompt}`);
    const urls = messages.slice(1).flatMap(urlsIn);
    expect(urls).toEqual([expect.stringContaining('signature='), foreign]);
    expect(await textAt(urls[0] as string)).toBe('from v1');
    expect(await listed(test.organizationId, id)).toHaveLength(1);
  });

  it('may belong to several sessions, each of which lists and keeps them', async () => {
    const { organizationId } = test;
    const shared = await uploadTo(test, organizationId, { name: 'shared.txt', content: 'for all' });
    const body = { prompt: 'say x', attachment_urls: [shared.url, shared.url] };
    const ids = await Promise.all([
      start(organizationId, body),
      start(organizationId, body),
      start(organizationId, body),
    ]);
    for (const id of ids) {
      const items = await listed(organizationId, id);
      expect(items).toHaveLength(1);
      expect(await textAt(items[0].url)).toBe('for all');
    }
  });

  it('are refused if unknown or another organization’s, and nothing is written', async () => {
    const mine = await uploadTo(test, test.organizationId, { name: 'mine.txt', content: 'mine' });
    const { organizationId, token } = await makeOrganization(test, 'Elsewhere');
    const id = await start(organizationId, { prompt: 'say x' });
    const count = async () => (await admin('GET', `${sessionsOf(organizationId)}?first=200`)).body.items.length;
    const before = await count();
    const bad = [mine.url, mine.attachment_id, `attachment-${'0'.repeat(32)}`, 'https://example.com/a.png', 'nonsense'];
    for (const reference of bad) {
      const body = { prompt: 'say x', message: 'x', attachment_urls: [reference] };
      for (const path of [sessionsOf(organizationId), `${sessionsOf(organizationId)}/${id}/messages`]) {
        const refused = await call(test, token, 'POST', path, body);
        expect({ reference, status: refused.status }).toEqual({ reference, status: 400 });
        expect(refused.body.detail).toMatch(/^"attachment_urls" refers to .*, which does not exist\.$/);
      }
    }
    expect(await count()).toBe(before);
    // A line in a text is only text: it neither attaches nor opens another organization's file.
    const named = await start(organizationId, { prompt: `prompt\nATTACHMENT:"${mine.url}"` });
    await waitUntilEnded(test, named);
    expect((await readMessages(test, named)).flatMap(urlsIn)).toEqual([mine.url, mine.url]);
    expect(await listed(organizationId, named)).toEqual([]);
  });
});

describe('unused files', () => {
  const sweep = () => deleteOrphanedAttachments(test.app.services, () => false);
  const daysAgo = (id: string, days: number) =>
    test.app.services.store.execute(
      `update attachment set created_at = created_at - make_interval(days => $2::int) where id = $1 returning id`,
      [id.replace('attachment-', ''), days],
    );

  it('are deleted after 30 days without a session, or with their organization; others stay', async () => {
    await sweep();
    const { organizationId } = await makeOrganization(test, 'Doomed');
    const file = { name: 'a.txt', content: 'x' };
    const unused = await uploadTo(test, test.organizationId, file);
    const young = await uploadTo(test, test.organizationId, file);
    const used = await uploadTo(test, test.organizationId, file);
    const doomed = await uploadTo(test, organizationId, file);
    await start(test.organizationId, { prompt: 'say x', attachment_urls: [used.url] });
    const storedPath = (each: { attachment_id: string }) =>
      `attachments/${each.attachment_id.replace('attachment-', '')}`;
    for (const [each, days] of [
      [unused, 31],
      [young, 29],
      [used, 31],
    ] as const)
      await daysAgo(each.attachment_id, days);
    await admin('DELETE', `/v3/enterprise/organizations/${organizationId}`);
    const before = await readStoredFiles(test);
    expect(before).toEqual(expect.arrayContaining([unused, young, used, doomed].map(storedPath)));
    expect(await sweep()).toBe(2);
    const gone = [storedPath(unused), storedPath(doomed)];
    expect(await readStoredFiles(test)).toEqual(before.filter((path) => !gone.includes(path)));
    const answer = await fetch(unused.url, { headers: { authorization: `Bearer ${test.adminToken}` } });
    expect(answer.status).toBe(404);
    expect(await textAt(await linkOf(test.adminToken, young.url))).toBe('x');
    expect(await sweep()).toBe(0);
  });

  it('left by a crash between a file and its row are deleted after an hour without uploads', async () => {
    const { files } = test.app.services;
    const whole = await uploadTo(test, test.organizationId, { name: 'a.txt', content: 'x' });
    const wholeId = whole.attachment_id.replace('attachment-', '');
    const [coming, stuck, rowless] = ['a', 'b', 'c'].map((digit) => digit.repeat(32)) as [string, string, string];
    for (const id of [coming, stuck]) {
      await mkdir(join(test.dataDir, 'uploads', id));
      await writeFile(join(test.dataDir, 'uploads', id, 'content'), 'half');
    }
    await files.unsettle(rowless);
    await mkdir(join(test.dataDir, 'attachments', 'cc'), { recursive: true });
    await writeFile(join(test.dataDir, 'attachments', files.keyOf(rowless)), 'without a row');
    await files.unsettle(wholeId);
    const before = await readStoredFiles(test);
    const past = new Date(Date.now() - 61 * 60_000);
    await utimes(join(test.dataDir, 'uploads', stuck, 'content'), past, past);
    for (const id of [coming, stuck, rowless, wholeId]) await utimes(join(test.dataDir, 'uploads', id), past, past);
    expect(await sweep()).toBe(2);
    const stays = (path: string) => path.startsWith('attachments') && !path.includes(rowless);
    expect(await readStoredFiles(test)).toEqual([...before.filter(stays), `uploads/${coming}`, 'uploads/content']);
    expect(await textAt(await linkOf(test.adminToken, whole.url))).toBe('x');
  });

  it('are kept if only the record of their upload cannot be deleted', async () => {
    const { files } = test.app.services;
    vi.spyOn(files, 'settle').mockRejectedValueOnce(new Error('The disk cannot be written.'));
    const file = await uploadTo(test, test.organizationId, { name: 'a.txt', content: 'still here' });
    vi.restoreAllMocks();
    expect(await textAt(await linkOf(test.adminToken, file.url))).toBe('still here');
  });
});
