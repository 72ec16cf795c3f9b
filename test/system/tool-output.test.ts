import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { deleteOrphanedAttachments } from '../../src/domain/sessions/attachments/orphans.ts';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { requireNoSecrets, secretCanary } from '../support/leaks.ts';
import { endTurn, followLive, LiveView, scriptedProfile, showUntil } from '../support/live.ts';
import { makeRole } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { writeProfiles } from '../support/profiles.ts';
import type { Script } from '../support/scripted-agent.ts';
import { readMessages, waitUntilEnded } from '../support/session-waits.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { readStoredFiles } from '../support/uploads.ts';

const secret = `${secretCanary}/ä+ "quoted" & <ö>=? and much more of it`;
const line = 'The quick brown fox jumps over the lazy dog.\n';
const update = (fields: object): Script[string][number] => ({ write: [{ update: fields }] });
const started = (toolCallId: string) =>
  update({ sessionUpdate: 'tool_call', toolCallId, title: 'make', kind: 'execute', status: 'in_progress' });
const next = (toolCallId: string, fields: object) =>
  update({ sessionUpdate: 'tool_call_update', toolCallId, ...fields });
const printed = (toolCallId: string, data: string) => next(toolCallId, { _meta: { terminal_output_delta: { data } } });
const content = (text: string) => ({ content: [{ type: 'content', content: { type: 'text', text } }] });
const agent = (id: string, ...steps: Script[string]) => scriptedProfile(id, { 'session/prompt': [...steps, endTurn] });
const long = (size: number) => line.repeat(Math.ceil(size / line.length)).slice(0, size);
const maxToolOutputBytes = 400_000;

let test: TestApp;
const logged: string[] = [];
beforeAll(async () => {
  const agentsConfig = await writeProfiles(
    { warm_ttl_ms: 0, retry_delays_ms: [] },
    agent(
      'terminal',
      started('t'),
      printed('t', long(30_000)),
      ...[...secret].map((character) => printed('t', character)),
      { sleepMs: 200 },
      // The entry's 16,000 characters begin in the middle of the second one.
      printed('t', `${long(20_000)}${secret}${long(16_000 - secret.length / 2)}`),
      { sleepMs: 200 },
      next('t', { status: 'completed' }),
    ),
    agent(
      'repeater',
      started('t'),
      next('t', content(long(20_000))),
      next('t', content(long(40_000))),
      next('t', { status: 'completed', ...content(`\0${long(60_000)}\ud800`) }),
      next('t', { status: 'completed', ...content(`\0${long(60_000)}\ud800`) }),
      next('t', { status: 'completed', title: 'made' }),
      next('t', { status: 'completed', title: 'made twice', ...content(`\0${long(60_000)}\ud800`) }),
    ),
    agent('short', started('t'), next('t', { status: 'completed', ...content('é') })),
    agent('open', started('t'), printed('t', long(50_000)), { exit: 1 }),
    agent(
      'greedy',
      ...[1, 2, 3].flatMap((n) => [
        started(`t${n}`),
        next(`t${n}`, { status: 'completed', ...content(long(150_000)) }),
      ]),
    ),
  );
  test = await startApp({ roles: ['api', 'worker'], agentsConfig, maxConcurrentSessions: 4, maxToolOutputBytes });
  const { log } = test.app.services;
  for (const level of ['debug', 'info', 'warn', 'error'] as const) {
    log[level] = (fields, message) => logged.push(`${message} ${JSON.stringify(fields)}`);
  }
});
afterAll(() => test.close());
afterEach(() => vi.restoreAllMocks());

const calls = `query($id: ID!) { session(id: $id) {
  attachments(first: 5) { nodes { name } totalCount } ofTools: attachments(first: 5, filter: { source: TOOL }) { nodes { name } }
  events(first: 100) { nodes { kind ... on ToolCallEvent { title toolStatus output outputBytes draftId
    outputFile { id attachmentId name contentType sizeBytes source url session { sessionId } } } } } } }`;

interface ToolCall {
  title: string;
  toolStatus: string;
  output: string | null;
  outputBytes: number | null;
  draftId: string | null;
  outputFile: Record<string, any> | null;
}

async function read(id: string, token = test.adminToken): Promise<{ session: any; calls: ToolCall[] }> {
  const { data, errors } = await graphql(test, token, calls, { id });
  expect(errors).toBeUndefined();
  return {
    session: data.session,
    calls: data.session.events.nodes.filter(({ kind }: { kind: string }) => kind === 'TOOL_CALL'),
  };
}

async function run(agentId: string): Promise<{ id: string; session: any; calls: ToolCall[]; last: ToolCall }> {
  const id = await createSession(test, { prompt: 'go', agent: agentId });
  await waitUntilEnded(test, id);
  const found = await read(id);
  return { id, ...found, last: found.calls.at(-1) as ToolCall };
}

const textOf = async ({ outputFile }: ToolCall) => (await fetch(outputFile?.url)).text();

it('stores the output of a terminal masked, and agrees with the drafts and the entry', async () => {
  const path = `/v3/organizations/org-${test.organizationId}/sessions`;
  const sessionSecrets = [{ key: 'LEAK', value: secret }];
  const id = await createSession(test, { prompt: 'go', agent: 'terminal', sessionSecrets });
  const view = new LiveView();
  await showUntil(view, followLive(test, test.adminToken, id), ({ entries }) =>
    entries.some(({ phase }) => phase === 'STOPPED'),
  );
  const { session, calls } = await read(id);
  const last = calls.at(-1) as ToolCall;
  expect(last).toMatchObject({
    toolStatus: 'COMPLETED',
    outputFile: {
      name: 'tool-output.txt',
      contentType: 'text/plain',
      source: 'TOOL',
      session: { sessionId: `devin-${id}` },
    },
  });

  const response = await fetch(last.outputFile?.url);
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  const file = await response.text();
  const rest = long(16_000 - secret.length / 2);
  expect(file).toBe(`${long(30_000)}********${long(20_000)}********${rest}`);
  expect(last.outputBytes).toBe(Buffer.byteLength(file));
  expect(last.outputFile?.sizeBytes).toBe(last.outputBytes);
  expect(last.output).toBe(`… (${file.length - 16_000} earlier characters: see the file)\n${file.slice(-16_000)}`);
  expect(calls[0]).toMatchObject({ toolStatus: 'IN_PROGRESS', output: null, outputBytes: null, outputFile: null });

  const shown = view.shown.get(last.draftId as string) ?? [];
  expect(shown.length).toBeGreaterThan(2);
  for (const { text, start } of shown) expect(file.startsWith(text, start)).toBe(true);

  // No list of attachments has it.
  expect(session.attachments).toEqual({ nodes: [], totalCount: 0 });
  expect(session.ofTools.nodes).toEqual([]);
  const listed = await call(test, test.adminToken, 'GET', `${path}/devin-${id}/attachments`);
  expect([listed.status, listed.body.items]).toEqual([200, []]);

  await requireNoSecrets(test.app.services.store);
  expect(logged.join('\n')).not.toContain(secretCanary);
  const files = await readdir(join(test.dataDir, 'attachments'), { recursive: true, withFileTypes: true });
  const stored = files.filter((each) => each.isFile());
  expect(stored.length).toBeGreaterThan(0);
  for (const each of stored) {
    expect(await readFile(join(each.parentPath, each.name), 'utf8')).not.toContain(secretCanary);
  }
});

it('stores one file of content that an agent repeats, without characters that are none', async () => {
  const { id, calls } = await run('repeater');
  const ended = calls.filter(({ toolStatus }) => toolStatus === 'COMPLETED');
  expect(ended.map(({ title }) => title)).toEqual(['make', 'made', 'made twice']);
  const ids = new Set(ended.map(({ outputFile }) => outputFile?.attachmentId));
  expect(ids.size).toBe(1);
  for (const each of ended) expect(await textOf(each)).toBe(`\uFFFD${long(60_000)}\uFFFD`);
  expect(ended[2]?.outputBytes).toBe(60_006);
  const rows = await test.app.services.store.query('select id from attachment where session_id = $1', [id]);
  expect(rows).toHaveLength(1);
});

it('stores no file of a short output, and says its size', async () => {
  const { last } = await run('short');
  expect(last).toMatchObject({ output: 'é', outputBytes: 2, outputFile: null });
});

it('stores all output of a call that is open when its turn ends', async () => {
  const { last } = await run('open');
  expect(last.toolStatus).toBe('FAILED');
  expect(last.output).toBe(
    `… (34000 earlier characters: see the file)\n${long(50_000).slice(-16_000).replace(/\n$/, '')}\nInterrupted.`,
  );
  expect(await textOf(last)).toBe(long(50_000));
});

it('stores no more than the limit of a session', async () => {
  const { calls } = await run('greedy');
  const ended = calls.filter(({ toolStatus }) => toolStatus === 'COMPLETED');
  expect(ended.map(({ outputFile }) => outputFile?.sizeBytes ?? null)).toEqual([150_000, null, null]);
  expect(ended[2]?.output).toBe(`… (134000 earlier characters are not kept)\n${long(150_000).slice(-16_000)}`);
  expect(ended[2]?.outputBytes).toBe(150_000);
});

it('is read with the permission to view sessions alone, and attached to no message', async () => {
  const { id, last } = await run('open');
  const { id: nodeId, attachmentId, name } = last.outputFile as Record<string, string>;
  const userWith = async (...permissions: string[]) =>
    (await makeUser(test, { roleId: (await makeRole(test, 'ORGANIZATION', permissions)).roleId })).token;
  const node = 'query($id: ID!) { node(id: $id) { ... on Attachment { name } } }';
  const findsWith = async (token: string) => {
    const found = await graphql(test, token, node, { id: nodeId });
    const path = `/attachments/${attachmentId}/${name}`;
    const linked = await fetch(test.url + path, { headers: { authorization: `Bearer ${token}` }, redirect: 'manual' });
    return [found.data?.node?.name ?? null, linked.status];
  };
  expect(await findsWith(test.adminToken)).toEqual([name, 307]);
  expect(await findsWith(await userWith('VIEW_ORG_SESSIONS'))).toEqual([name, 307]);
  expect(await findsWith(await userWith('USE_SESSIONS'))).toEqual([null, 404]);
  expect(await findsWith((await makeOrganization(test, 'Other')).token)).toEqual([null, 404]);

  const sending = 'mutation($input: SendMessageInput!) { sendMessage(input: $input) { userErrors { code path } } }';
  const send = (input: object) => graphql(test, test.adminToken, sending, { input: { sessionId: id, ...input } });
  const { data } = await send({ body: 'look', attachmentIds: [attachmentId] });
  expect(data.sendMessage.userErrors).toEqual([{ code: 'UNKNOWN_REFERENCE', path: ['input', 'attachmentIds'] }]);
  const prompt = `prompt\nATTACHMENT:"${test.url}/attachments/${attachmentId}/${name}"`;
  const named = await createSession(test, { prompt });
  await waitUntilEnded(test, named);
  // The demo agent prints its prompt, in which the line stays as it was.
  expect((await readMessages(test, named)).at(-1)).toContain(prompt);
});

it('continues without a file if the storage fails, and stores none for a while', async () => {
  const { files } = test.app.services;
  const store = vi.spyOn(files, 'store').mockRejectedValue(new Error('The bucket is gone.'));
  const before = await readStoredFiles(test);
  const { calls } = await run('greedy');
  expect(calls.filter(({ toolStatus }) => toolStatus === 'COMPLETED').map(({ outputFile }) => outputFile)).toEqual([
    null,
    null,
    null,
  ]);
  expect(store).toHaveBeenCalledTimes(1);
  expect(await readStoredFiles(test)).toEqual(before);
  expect(logged.filter((each) => each.includes('could not be stored as a file'))).toHaveLength(1);
});

it('leaves no file if the worker has lost the session, and deletes files with the organization', async () => {
  const { store, files } = test.app.services;
  const filesOfRows = async () => {
    const rows = await store.query<{ id: string }>('select id from attachment order by id');
    return rows.map(({ id }) => `attachments/${id}`);
  };
  const { organizationId, token } = await makeOrganization(test, 'Doomed');
  const id = await createSession(test, { prompt: 'go', agent: 'open', organizationId }, token);
  await waitUntilEnded(test, id);
  expect(await filesOfRows()).toEqual(await readStoredFiles(test));
  const lastStored = (await readStoredFiles(test)).at(-1);

  const original = files.store.bind(files);
  let otherId = (_id: string): void => undefined;
  const other = new Promise<string>((resolve) => {
    otherId = resolve;
  });
  const lost = new Promise<string>((resolve) => {
    vi.spyOn(files, 'store').mockImplementationOnce(async (fileId) => {
      const key = await original(fileId);
      const takeOver = 'update session_head set generation = generation + 1 where session_id = $1 returning generation';
      await store.execute(takeOver, [await other]);
      resolve(`attachments/${fileId}`);
      return key;
    });
  });
  otherId(await createSession(test, { prompt: 'go', agent: 'open' }));
  const lostFile = await lost;
  await expect.poll(() => readStoredFiles(test)).not.toContain(lostFile);

  await call(test, test.adminToken, 'DELETE', `/v3/enterprise/organizations/${organizationId}`);
  await deleteOrphanedAttachments(test.app.services, () => false);
  expect(await readStoredFiles(test)).not.toContain(lastStored);
  expect(await filesOfRows()).not.toContain(lastStored);
});
