import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { globalId } from '../../src/domain/ids.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { makeManySessions, sayMany } from '../support/many-sessions.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';
import { connect } from '../support/sockets.ts';

// Relay has no types of its own.
const require = createRequire(import.meta.url);
const relay = require('relay-runtime');

let app: TestApp;
let dir: string;
beforeAll(async () => {
  app = await startApp();
  dir = compile();
});
afterAll(async () => {
  rmSync(dir, { recursive: true, force: true });
  await app.close();
});

/**
 * Compiles the documents of test/clients/relay against schema.graphql; throws the compiler's messages if one does not
 * fit.
 */
function compile(): string {
  const root = mkdtempSync(join(tmpdir(), 'switchyard-relay-'));
  cpSync(new URL('relay', import.meta.url), join(root, 'src'), { recursive: true });
  cpSync(new URL('../../schema.graphql', import.meta.url), join(root, 'schema.graphql'));
  const config = {
    src: './src',
    schema: './schema.graphql',
    language: 'javascript',
    artifactDirectory: './artifacts',
    eagerEsModules: false,
  };
  writeFileSync(join(root, 'relay.config.json'), JSON.stringify(config));
  mkdirSync(join(root, 'artifacts'));
  execFileSync(process.execPath, [require.resolve('relay-compiler/cli.js'), 'relay.config.json'], { cwd: root });
  return root;
}

const artifact = (name: string) => require(join(dir, 'artifacts', `${name}.graphql.js`));

function makeEnvironment(token: string) {
  const socket = connect(app.url, token);
  const network = relay.Network.create(
    async ({ text }: { text: string }, variables: object) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ query: text, variables });
      return (await fetch(`${app.url}/graphql`, { method: 'POST', headers, body })).json();
    },
    ({ text }: { text: string }, variables: Record<string, unknown>) =>
      relay.Observable.create((sink: any) => socket.subscribe({ query: text, variables }, sink)),
  );
  const environment = new relay.Environment({ network, store: new relay.Store(new relay.RecordSource()) });
  /** Runs a query and stores its result; returns its own data. */
  const run = async (name: string, variables: object): Promise<any> => {
    environment.retain(relay.createOperationDescriptor(artifact(name), variables));
    return relay.fetchQuery(environment, artifact(name), variables, { fetchPolicy: 'network-only' }).toPromise();
  };
  /** The data that a component gets from a fragment of a query. */
  const read = (fragment: string, pointer: object): any =>
    environment.lookup(relay.getSingularSelector(artifact(fragment), pointer)).data;
  return { environment, run, read, close: async () => socket.dispose() };
}

test('pages forward through a list of 1,000 sessions, each once, while new ones are created', {
  timeout: 60_000,
}, async () => {
  const { organizationId, token } = await makeOrganization(app, 'Relay');
  const ids = await makeManySessions(app, organizationId, 1_000);
  const { environment, run, read, close } = makeEnvironment(token);
  const { organization } = await run('sessionListQuery', { id: organizationId, count: 50 });
  const list = () => read('sessionList_organization', organization).sessions;
  const connections = [relay.ConnectionHandler.getConnectionID(organization.id, 'sessionList_sessions')];
  let created = 0;
  while (list().pageInfo.hasNextPage) {
    if (++created <= 5) {
      // One created by another user, and one by this user, which is inserted at the front.
      await createSession(app, { title: 'of another', organizationId }, app.adminToken);
      const variables = { connections, input: { prompt: 'own', title: `own ${created}` } };
      await new Promise((onCompleted, onError) =>
        relay.commitMutation(environment, {
          mutation: artifact('sessionListCreateMutation'),
          variables,
          onCompleted,
          onError,
        }),
      );
    }
    await run('sessionListForwardQuery', { id: organization.id, count: 50, cursor: list().pageInfo.endCursor });
  }
  const titles = list().edges.map(({ node }: any) => node.title);
  expect(titles.slice(0, 5)).toEqual(['own 5', 'own 4', 'own 3', 'own 2', 'own 1']);
  expect(
    list()
      .edges.slice(5)
      .map(({ node }: any) => node.sessionId),
  ).toEqual(ids.map((id) => `devin-${id}`));
  await close();
});

test('sends an input with exactly one member as a variable and in the document', async () => {
  const { token } = await makeOrganization(app, 'Relay chooses');
  const { environment, close } = makeEnvironment(token);
  const rule = 'DTSTART:20990301T090000\nRRULE:FREQ=DAILY';
  const input = { name: 'Made', triggers: [{ schedule: { rule } }], actions: [{ startSession: { prompt: 'Sweep.' } }] };
  const made: any = await new Promise((onCompleted, onError) =>
    relay.commitMutation(environment, {
      mutation: artifact('makeAutomationMutation'),
      variables: { input, prompt: 'Mop.' },
      onCompleted,
      onError,
    }),
  );
  expect(made.createAutomation.automation).toMatchObject({
    triggers: [{ eventType: 'schedule:recurring', rule }],
    actions: [{ __typename: 'StartSessionAction', prompt: 'Sweep.' }],
    createdBy: { displayName: 'Relay chooses bot' },
  });
  expect(made.second.automation.name).toBe('In the document');
  await close();
});

test('reads a log backwards from its end, then follows it: each message once and in order', {
  timeout: 60_000,
}, async () => {
  const id = await createSession(app, { prompt: 'm' });
  await sayMany(app, id, 1_000);
  const { environment, run, read, close } = makeEnvironment(app.adminToken);
  const { session } = await run('messageLogQuery', { id, last: 100 });
  const log = () => read('messageLog_session', session).messages;
  const follow = relay.requestSubscription(environment, {
    subscription: artifact('messageLogSubscription'),
    variables: {
      sessionId: id,
      after: log().pageInfo.endCursor,
      connections: [relay.ConnectionHandler.getConnectionID(session.id, 'messageLog_messages')],
    },
  });
  for (let page = 0; log().pageInfo.hasPreviousPage; page += 1) {
    await say(app, id, `live ${page}`);
    await run('messageLogPagesQuery', { id: session.id, last: 100, before: log().pageInfo.startCursor });
  }
  const expected = ['m', ...range(1_000).map((n) => `m${n}`), ...range(10).map((n) => `live ${n}`)];
  const bodies = () => log().edges.map(({ node }: any) => node.body);
  await expect.poll(() => bodies().length, { timeout: 60_000 }).toBe(expected.length);
  expect(bodies()).toEqual(expected);
  follow.dispose();
  await close();
});

test('reads a log forward from its beginning, including new messages', { timeout: 240_000 }, async () => {
  const id = await createSession(app, { prompt: 'm' });
  await sayMany(app, id, 1_000);
  const { run, read, close } = makeEnvironment(app.adminToken);
  const { session } = await run('messageLogQuery', { id, first: 100 });
  const log = () => read('messageLog_session', session).messages;
  for (let page = 0; log().pageInfo.hasNextPage; page += 1) {
    if (page < 5) await say(app, id, `live ${page}`);
    await run('messageLogPagesQuery', { id: session.id, first: 100, after: log().pageInfo.endCursor });
  }
  const expected = ['m', ...range(1_000).map((n) => `m${n}`), ...range(5).map((n) => `live ${n}`)];
  expect(log().edges.map(({ node }: any) => node.body)).toEqual(expected);
  expect(session.id).toBe(globalId('session', id));
  await close();
});

const range = (count: number) => Array.from({ length: count }, (_, n) => n);
