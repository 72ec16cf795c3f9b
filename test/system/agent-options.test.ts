import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { runMutation } from '../support/people.ts';
import { writeProfiles } from '../support/profiles.ts';
import { optionCommand } from '../support/programs.ts';
import { readMessages, waitForSession, waitUntilEnded, waitUntilWaiting } from '../support/session-waits.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
import { testDatabase } from '../support/test-store.ts';
import { waitUntilReleased } from '../support/workspaces.ts';

const secretValue = 'opt10n-s3cret-value';
const valuesOf = (...values: string[]) => values.map((value) => ({ value, name: `Name of ${value}` }));
const model = {
  id: 'model',
  name: 'Model',
  category: 'model',
  type: 'select',
  currentValue: 'small',
  options: valuesOf('small', 'large', 'refused', 'fatal', secretValue),
};
const effort = {
  id: 'effort',
  name: `Effort ${secretValue}`,
  category: 'thought_level',
  type: 'select',
  currentValue: 'low',
  options: valuesOf('low', 'high'),
};
const locked = { ...effort, id: 'locked', name: 'Locked', options: valuesOf('low', 'high') };

let test: TestApp;
let agentsConfig: string;
beforeAll(async () => {
  const at = (name: string, state: object) => {
    const path = join(tmpdir(), `switchyard-options-${process.pid}-${name}.json`);
    writeFileSync(path, JSON.stringify(state));
    return path;
  };
  const shared = { locked_options: ['locked'], env: { TEST_SECRET: secretValue }, retry_delays_ms: [0], mcp: false };
  const offering = optionCommand(at('offering', { configOptions: [model, effort, locked] }));
  agentsConfig = await writeProfiles(
    {},
    { id: 'offering', command: offering, ...shared },
    { id: 'ending', command: offering, ...shared, warm_ttl_ms: 0 },
    { id: 'unseen', command: offering, ...shared },
    { id: 'checked', command: offering, ...shared, sandbox: 'none' },
    { id: 'asking', command: offering, ...shared, locked_options: null, permission: 'ask' },
  );
  test = await startApp({ roles: ['api', 'worker'], agentsConfig });
});
afterAll(() => test.close());

const offerFields = 'optionId name category currentValue isLocked hasMoreValues values { value name }';
const readOffer = async (agentId: string, token = test.adminToken, organizationId?: string) => {
  const document = `query($id: ID) { agents { agentId options(organizationId: $id) { ${offerFields} } } }`;
  const { data, errors } = await graphql(test, token, document, { id: organizationId });
  if (errors) return errors[0].extensions.code;
  return data.agents.find((each: any) => each.agentId === agentId).options;
};
const readOptions = async (id: string): Promise<any[]> => {
  const document = 'query($id: ID!) { session(id: $id) { options { optionId value isPending } } }';
  return (await graphql(test, test.adminToken, document, { id })).data.session.options;
};
const notices = async (id: string): Promise<string[]> => {
  const document = `query($id: ID!) { session(id: $id) { events(first: 100, kinds: [NOTICE]) {
    nodes { ... on NoticeEvent { body } } } } }`;
  const { data } = await graphql(test, test.adminToken, document, { id });
  return data.session.events.nodes.map(({ body }: { body: string }) => body);
};
const choose = (sessionId: string, options: Record<string, string>, token = test.adminToken) =>
  runMutation(
    test,
    'setSessionOptions',
    'session { options { optionId value isPending } }',
    { sessionId, options: Object.entries(options).map(([optionId, value]) => ({ optionId, value })) },
    token,
  );
const send = (sessionId: string, body: string) =>
  runMutation(test, 'sendMessage', 'session { status }', { sessionId, body });
const lastValues = async (id: string) =>
  JSON.parse((await readMessages(test, id)).at(-1)?.split(': ').slice(1).join(': ') ?? '');

/** Resolves with the options of a session once none is pending, by subscription. */
async function whenSettled(id: string): Promise<any[]> {
  const document = 'subscription($id: ID!) { sessionUpdated(sessionId: $id) { options { optionId value isPending } } }';
  const following = follow(connect(test.url, test.adminToken), document, { id });
  for (;;) {
    const [payload] = await following.take(1);
    const { options } = payload.data.sessionUpdated;
    if (options.some((each: any) => each.isPending)) continue;
    following.stop();
    return options;
  }
}

it('shows the options that an agent offered at its start in the organization, masked', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Seen');
  const other = await makeOrganization(test, 'Unseen');
  expect(await readOffer('offering', token)).toBeNull();
  const id = await createSession(test, { agent: 'offering', prompt: 'values' }, token);
  await waitUntilEnded(test, id);
  await expect.poll(() => readOffer('offering', token)).not.toBeNull();
  const offer = await readOffer('offering', token, organizationId);
  expect(offer).toEqual([
    {
      optionId: 'model',
      name: 'Model',
      category: 'model',
      currentValue: 'small',
      isLocked: false,
      hasMoreValues: true,
      values: valuesOf('small', 'large', 'refused', 'fatal'),
    },
    expect.objectContaining({ optionId: 'effort', name: 'Effort ********', isLocked: false, hasMoreValues: false }),
    expect.objectContaining({ optionId: 'locked', isLocked: true }),
  ]);
  expect(await readOffer('offering', token)).toEqual(offer);
  expect(await readOffer('offering')).toEqual(offer);
  expect(await readOffer('demo')).toEqual(null);
  // Another organization sees nothing of it.
  expect(await readOffer('offering', other.token)).toBeNull();
  expect(await readOffer('offering', other.token, organizationId)).toBe('NOT_FOUND');
  expect(await whenSettled(id)).toEqual([
    { optionId: 'model', value: 'small', isPending: false },
    { optionId: 'effort', value: 'low', isPending: false },
    { optionId: 'locked', value: 'low', isPending: false },
  ]);
});

it('starts a session with options, and changes them between turns of an idle and of a working agent', async () => {
  const options = [{ optionId: 'model', value: 'large' }];
  const id = await createSession(test, { agent: 'offering', prompt: 'values', options });
  expect(await readOptions(id)).toMatchObject([{ optionId: 'model', value: 'large' }]);
  await waitUntilEnded(test, id);
  expect(await lastValues(id)).toMatchObject({ model: 'large', effort: 'low' });
  expect(await notices(id)).toEqual(['Model is now Name of large.']);
  // Idle: at once, and without a turn.
  const changed = await choose(id, { effort: 'high' });
  // The agent may have accepted it by now.
  expect(changed.session.options).toContainEqual(expect.objectContaining({ optionId: 'effort', value: 'high' }));
  expect(await whenSettled(id)).toContainEqual({ optionId: 'effort', value: 'high', isPending: false });
  expect(await notices(id)).toEqual(['Model is now Name of large.', 'Effort ******** is now Name of high.']);
  // Working: before the next turn.
  await send(id, 'ask\nvalues');
  await waitUntilWaiting(test, id);
  await choose(id, { model: 'small', effort: 'high' });
  expect(await readOptions(id)).toContainEqual({ optionId: 'model', value: 'small', isPending: true });
  await send(id, 'an answer');
  expect(await whenSettled(id)).toContainEqual({ optionId: 'model', value: 'small', isPending: false });
  expect(await lastValues(id)).toMatchObject({ model: 'large', effort: 'high' });
  await send(id, 'values');
  await waitUntilEnded(test, id);
  expect(await lastValues(id)).toMatchObject({ model: 'small', effort: 'high' });
  // The same choice again is no change.
  const before = await notices(id);
  await choose(id, { model: 'small' });
  expect(await notices(id)).toEqual(before);
  const { store } = test.app.services;
  const audited = await store.query<{ data: unknown }>(
    `select data from audit_entry where session_id = $1 and action = 'update_session_options' order by id`,
    [id],
  );
  expect(audited.map(({ data }) => data)).toEqual([{ changed: 'effort' }, { changed: 'model, effort' }]);
});

it('gives the choices to the next process of the agent', async () => {
  const id = await createSession(test, { agent: 'ending', prompt: 'values' });
  await waitUntilEnded(test, id);
  await runMutation(test, 'archiveSession', 'session { status }', { sessionId: id });
  expect((await choose(id, { model: 'large' })).userErrors).toMatchObject([{ code: 'INVALID_STATE', path: null }]);
  await runMutation(test, 'unarchiveSession', 'session { status }', { sessionId: id });
  await waitUntilReleased(test, id);
  await choose(id, { model: 'large', effort: 'high' });
  expect((await readOptions(id)).filter((each) => each.isPending)).toHaveLength(2);
  await send(id, 'values');
  await waitForSession(test, id, ({ status }) => status === 'EXIT');
  expect(await lastValues(id)).toMatchObject({ model: 'large', effort: 'high' });
});

it('drops a value that the agent refuses, or that ends it, and says so', async () => {
  const id = await createSession(test, {
    agent: 'offering',
    prompt: 'values',
    options: [{ optionId: 'model', value: 'large' }],
  });
  await waitUntilEnded(test, id);
  await choose(id, { model: 'refused' });
  expect(await whenSettled(id)).toContainEqual({ optionId: 'model', value: 'large', isPending: false });
  expect((await notices(id)).at(-1)).toBe(
    'Model was not set to Name of refused. The agent refused "session/set_config_option": no such value: ********.',
  );
  await choose(id, { model: 'fatal' });
  await whenSettled(id);
  expect((await notices(id)).at(-1)).toMatch(/^Model was not set to Name of fatal\. The agent process ended/);
  // Its next process has the last value that was accepted.
  await send(id, 'values');
  await waitForSession(test, id, ({ status }) => status === 'EXIT');
  expect(await lastValues(id)).toMatchObject({ model: 'large' });
});

it('follows an agent that changes its options in a turn', async () => {
  const changed = { ...model, currentValue: 'large' };
  const prompt = `update ${JSON.stringify([changed])}`;
  const id = await createSession(test, { agent: 'offering', prompt });
  await waitUntilEnded(test, id);
  await expect.poll(() => readOptions(id)).toEqual([{ optionId: 'model', value: 'large', isPending: false }]);
});

it('stores the options of an agent that changes them all the time at most once in a second', async () => {
  const startedAt = performance.now();
  const id = await createSession(test, { agent: 'offering', prompt: 'flood 3000\nvalues' });
  await waitUntilEnded(test, id);
  await expect.poll(() => readOptions(id)).toContainEqual({ optionId: 'model', value: 'large', isPending: false });
  const [row] = await test.app.services.store.query<{ version: number }>(
    'select agent_options_version as version from session where id = $1',
    [id],
  );
  expect(row?.version).toBeLessThanOrEqual(2 + (performance.now() - startedAt) / 1_000);
});

it('refuses what the agent is known not to offer, and locked options', async () => {
  const { token } = await makeOrganization(test, 'Refused');
  const pathOf = async (options: Record<string, string>, agent = 'offering') => {
    const input = Object.entries(options).map(([optionId, value]) => ({ optionId, value }));
    const organizationId = (await graphql(test, token, '{ viewer { organization { organizationId } } }')).data.viewer
      .organization.organizationId;
    const { userErrors } = await runMutation(
      test,
      'createSession',
      'session { sessionId }',
      { organizationId, prompt: 'values', agent, options: input },
      token,
    );
    return userErrors.map(({ code, path }: any) => [code, ...path.slice(1)].join(' '));
  };
  // Locked, whether or not the agent was observed.
  expect(await pathOf({ locked: 'high' })).toEqual(['INVALID_INPUT options 0 optionId']);
  expect(await pathOf({ anything: 'x' }, 'unseen')).toEqual([]);
  // An agent has modes in which it asks for no permission.
  expect(await pathOf({ model: 'large', mode: 'yolo' }, 'asking')).toEqual(['INVALID_INPUT options 1 optionId']);
  const id = await createSession(test, { agent: 'offering', prompt: 'values' }, token);
  await waitUntilEnded(test, id);
  await expect.poll(() => readOffer('offering', token)).not.toBeNull();
  expect(await pathOf({ effort: 'high', nothing: 'x' })).toEqual(['INVALID_INPUT options 1 optionId']);
  expect(await pathOf({ effort: 'huge' })).toEqual(['INVALID_INPUT options 0 value']);
  // Another model may have other levels of effort.
  expect(await pathOf({ effort: 'huge', model: 'large' })).toEqual([]);
  const refusals = [
    [
      { optionId: 'model', value: 'large' },
      { optionId: 'model', value: 'small' },
    ],
    [{ optionId: 'x'.repeat(201), value: 'v' }],
    [{ optionId: 'x', value: 'v\u0000' }],
    Array.from({ length: 51 }, (_, n) => ({ optionId: `o${n}`, value: 'v' })),
  ];
  for (const options of refusals) {
    const { userErrors } = await runMutation(
      test,
      'setSessionOptions',
      'session { status }',
      { sessionId: id, options },
      token,
    );
    expect(userErrors[0]).toMatchObject({ code: 'INVALID_INPUT' });
  }
  expect((await choose(id, { locked: 'high' }, token)).userErrors[0].message).toBe(
    'The configuration of the agent "offering" locks the option "locked".',
  );
  const stranger = await makeOrganization(test, 'Stranger');
  expect(await choose(id, { model: 'large' }, stranger.token)).toMatchObject({ error: 'NOT_FOUND' });
  await runMutation(test, 'terminateSession', 'session { status }', { sessionId: id }, token);
  expect((await choose(id, { model: 'large' }, token)).userErrors).toMatchObject([{ code: 'INVALID_STATE' }]);
});

it('counts the options of a creation as a part of what its idempotency key stands for', async () => {
  const { organizationId } = test;
  const start = (value: string) =>
    runMutation(test, 'createSession', 'wasReplayed session { sessionId }', {
      organizationId,
      prompt: 'values',
      agent: 'unseen',
      options: [{ optionId: 'model', value }],
      idempotencyKey: 'with-options',
    });
  const first = await start('large');
  expect(await start('large')).toMatchObject({ wasReplayed: true, session: first.session });
  expect(await start('small')).toMatchObject({ userErrors: [{ code: 'IDEMPOTENCY_CONFLICT' }] });
});

// An embedded database is for one process at a time.
it.runIf(testDatabase === 'postgres')('stores the options of a check for all organizations', async () => {
  const args = ['dist/cli/switchyard.js', 'agents', 'check', 'checked', '--save', '--json'];
  const env = { PATH: process.env.PATH ?? '', DATABASE_URL: test.databaseUrl ?? '', AGENTS_CONFIG: agentsConfig };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  expect(JSON.parse(stdout)).toMatchObject({ failure: null, options: [{ id: 'model' }, {}, { isLocked: true }] });
  const { token } = await makeOrganization(test, 'Everybody');
  const [offered] = await readOffer('checked', token);
  expect(offered).toMatchObject({ optionId: 'model', values: valuesOf('small', 'large', 'refused', 'fatal') });
});
