import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { mutationDocument } from '../support/mutations.ts';
import { writeProfiles } from '../support/profiles.ts';
import { openRemoteDriver, type RemoteDriver } from '../support/remote-driver.ts';
import {
  readEvents,
  readMessages,
  waitForSession,
  waitUntilEnded,
  waitUntilWaiting,
} from '../support/session-waits.ts';
import { uploadTo } from '../support/uploads.ts';
import { readDeletedAt, waitUntilReleased } from '../support/workspaces.ts';

// Whole sessions whose agents run on another machine: see remote-driver.ts. Nothing in src/domain differs for them.

let test: TestApp;
let driver: RemoteDriver;
let closeDrivers: () => Promise<void>;
beforeAll(async () => {
  driver = await openRemoteDriver();
  const drivers = {
    defaultName: driver.name,
    driverFor: () => driver,
    workspaces: [driver.workspaces],
    close: vi.fn(driver.stop),
  };
  closeDrivers = drivers.close;
  const agentsConfig = await writeProfiles({ warm_ttl_ms: 0, retry_delays_ms: [] });
  test = await startApp(
    { roles: ['api', 'worker'], agentsConfig, maxConcurrentSessions: 2 },
    { openDrivers: async () => drivers },
  );
});
afterAll(async () => {
  await test.close();
  expect(closeDrivers).toHaveBeenCalledOnce();
});

const sessions = () => `/v3/organizations/${test.organizationId}/sessions`;
const admin = async (method: string, path: string, body?: unknown) => {
  const answer = await call(test, test.adminToken, method, path, body);
  expect({ path, status: answer.status }).toEqual({ path, status: 200 });
  return answer.body;
};
const start = async (body: object): Promise<string> => (await admin('POST', sessions(), body)).session_id;
const send = (id: string, message: string) => admin('POST', `${sessions()}/${id}/messages`, { message });
const rawId = (id: string) => id.replace('devin-', '');
const outputsOf = async (id: string): Promise<string[]> =>
  (await readEvents(test, id))
    .filter((event) => event.title?.startsWith('Read '))
    .flatMap(({ output }) => output ?? []);
const notesOf = async (id: string): Promise<string> => {
  const query =
    'query($id: ID!) { session(id: $id) { events(first: 100) { nodes { ... on NoticeEvent { body } ... on ErrorEvent { body agentOutput } } } } }';
  return JSON.stringify((await graphql(test, test.adminToken, query, { id: rawId(id) })).data);
};
const fileOf = async (id: string, path: string) => driver.workspaces.files(rawId(id)).stat(path);

it('a session has its files, tools, secrets, attachments and identity on another machine', async () => {
  const jar = '.example.com\tTRUE\t/\tTRUE\t0\tsid\tc4n4ry-remote-cookie';
  await admin('POST', `/v3/organizations/${test.organizationId}/secrets`, { type: 'cookie', key: 'jar', value: jar });
  const upload = await uploadTo(test, test.organizationId, { name: 'notes.txt', content: 'from the user' });
  const id = await start({
    prompt: [
      'write a.txt hello',
      'write .session/outputs/report.md a report',
      'cat .session/attachments/notes.txt',
      'cat .session/secrets/jar',
      'env GIT_CONFIG_SYSTEM',
      'mcp upload_attachment {"path": "a.txt", "name": "by-tool.txt"}',
      'json {"done": true}',
    ].join('\n'),
    attachment_urls: [upload.url],
    structured_output_schema: { type: 'object', properties: { done: { type: 'boolean' } }, required: ['done'] },
  });
  await waitUntilEnded(test, id);
  expect(await outputsOf(id)).toEqual(['from the user', '********']);
  expect((await readMessages(test, id)).join('\n')).toContain('/gitconfig');
  const { structured_output: output } = await admin('GET', `${sessions()}/${id}`);
  expect(output).toEqual({ done: true });
  const { items } = await admin('GET', `${sessions()}/${id}/attachments`);
  const contents = (items as { name: string; url: string }[]).map(
    async ({ name, url }) => `${name}: ${await (await fetch(url)).text()}`,
  );
  expect((await Promise.all(contents)).sort()).toEqual([
    'by-tool.txt: hello\n',
    'notes.txt: from the user',
    'report.md: a report\n',
  ]);
  // Nothing of it is on this machine, and the cookies are removed from the other.
  await waitUntilReleased(test, rawId(id));
  expect(existsSync(join(test.dataDir, 'sessions', rawId(id)))).toBe(false);
  expect(await fileOf(id, 'a.txt')).toMatchObject({ size: 6 });
  expect(await fileOf(id, '.session/secrets/jar')).toBeNull();
});

it('a question is answered there, and a later run continues with the same files', async () => {
  const id = await start({ prompt: 'write b.txt kept\nask Which?' });
  await waitUntilWaiting(test, id);
  await send(id, 'this one');
  await waitUntilEnded(test, id);
  await waitUntilReleased(test, rawId(id));
  await send(id, 'cat b.txt');
  await waitUntilEnded(test, id);
  expect(await outputsOf(id)).toEqual(['kept\n']);
});

it('a crash of the agent is reported with its exit code and stderr', async () => {
  const id = await start({ prompt: 'crash' });
  await waitForSession(test, id, ({ status }) => status === 'ERROR');
  expect(await notesOf(id)).toContain('exit code 1');
  expect(await notesOf(id)).toContain('told to crash');
});

it('a deleted workspace is deleted there, and the next run begins with an empty one', async () => {
  const id = await start({ prompt: 'write c.txt gone' });
  await waitUntilEnded(test, id);
  await waitUntilReleased(test, rawId(id));
  const selection = 'session { id } userErrors { code }';
  const input = { sessionId: rawId(id) };
  const { data } = await graphql(test, test.adminToken, mutationDocument('deleteSessionWorkspace', selection), {
    input,
  });
  expect(data.deleteSessionWorkspace.userErrors).toEqual([]);
  await expect.poll(() => readDeletedAt(test, rawId(id)), { interval: 20 }).not.toBeNull();
  await expect.poll(() => driver.workspaces.sizeOf(rawId(id)), { interval: 20 }).toBe(0);
  await send(id, 'list');
  await waitForSession(test, id, ({ status }) => status === 'RUNNING');
  await waitUntilEnded(test, id);
  expect(await fileOf(id, 'c.txt')).toBeNull();
  expect(await notesOf(id)).toContain('The workspace of this session was deleted');
});

it('an agent whose machine is lost ends its session with the reason', async () => {
  const id = await start({ prompt: 'sleep 600' });
  await waitForSession(test, id, ({ status }) => status === 'RUNNING');
  driver.machine.kill('SIGKILL');
  await waitForSession(test, id, ({ status }) => status === 'ERROR');
  expect(await notesOf(id)).toContain('the connection to its machine was lost');
});
