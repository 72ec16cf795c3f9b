import { afterAll, beforeAll, expect, it } from 'vitest';
import { failEndedBuilds } from '../../src/domain/environment-builds/fail-ended-builds.ts';
import { wantEnvironmentReads } from '../../src/domain/environment-builds/want-reads.ts';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { addRepository, commit, environmentFile, readBuilds, runSession } from '../support/environments.ts';
import type { GitForge } from '../support/git-forge.ts';
import { runMutation } from '../support/people.ts';
import { writeProfiles } from '../support/profiles.ts';
import { waitUntilEnded } from '../support/session-waits.ts';
import { shellAgent } from '../support/shell-agent.ts';

let test: TestApp;
beforeAll(async () => {
  const profile = { command: [process.execPath, '-e', shellAgent], mcp: false, 'warm_ttl_ms': 0, sandbox: 'none' };
  const agentsConfig = await writeProfiles({}, { id: 'shell', ...profile });
  test = await startApp({ roles: ['api', 'worker'], agentsConfig, maxConcurrentSessions: 4, isHttpForgeAllowed: true });
});
afterAll(() => test.close());

const fields =
  'environmentBuild { state trigger commit log session { sessionId isUnlisted title } } repository { path }';

async function repositoryId(forge: GitForge): Promise<string> {
  const [row] = await test.app.services.store.query<{ id: string }>('select id from repository where host = $1', [
    forge.host,
  ]);
  return `repository-${row?.id}`;
}

/** Creates a repository that a session has used once. */
async function addUsed(files: Readonly<Record<string, string>>): Promise<GitForge> {
  const forge = await addRepository(test, files);
  await runSession(test, forge, 'shell', 'true');
  return forge;
}

/** Requests a build, and resolves at its end. */
async function build(forge: GitForge, more: object = {}) {
  const input = {
    repositoryId: await repositoryId(forge),
    organizationId: test.organizationId,
    agent: 'shell',
    ...more,
  };
  const { environmentBuild } = await runMutation(test, 'buildEnvironment', fields, input);
  await waitUntilEnded(test, environmentBuild.session.sessionId);
  return environmentBuild;
}

it('builds on request, without an agent, and the next session starts with the result', async () => {
  const forge = await addUsed({ '.gitignore': 'deps\n', [environmentFile]: 'start: echo started >> ../started\n' });
  const definition = 'setup: echo "set up" > deps\nstart: echo started >> ../started\n';
  const started = await build(forge, { environmentDefinition: definition });
  expect(started).toMatchObject({ state: 'QUEUED', trigger: 'REQUEST', commit: '', session: { isUnlisted: true } });
  const [first] = await readBuilds(test, forge);
  expect(first).toMatchObject({ state: 'READY', log: '$ echo "set up" > deps\n\n' });
  const before = await runSession(test, forge, 'shell', 'cat deps 2>&1 || true');
  expect(before.output).toContain('No such file');

  await runMutation(test, 'updateRepository', '', {
    repositoryId: await repositoryId(forge),
    environmentDefinition: definition,
  });
  const after = await runSession(test, forge, 'shell', 'cat deps');
  expect(after.output).toBe('set up\n');
  expect(await after.calls('Set-up: ')).toEqual([]);
  const { data } = await graphql(
    test,
    test.adminToken,
    'query($id: ID!) { session(id: $id) { status messages(first: 5) { nodes { body } } workspaceDeletedAt } }',
    { id: started.session.sessionId },
  );
  expect(data.session).toMatchObject({ status: 'EXIT', messages: { nodes: [] } });
});

it('keeps the log of a failure, and later sessions set up themselves', async () => {
  const forge = await addUsed({ [environmentFile]: 'setup:\n  - echo one\n  - echo two; exit 3\n  - echo never\n' });
  await build(forge);
  const log = '$ echo one\none\n\n$ echo two; exit 3\ntwo\nThe command ended with the exit code 3.\n';
  const failed = await readBuilds(test, forge);
  expect(failed).toMatchObject([{ state: 'FAILED', checkpointId: null, log }]);
  const next = await runSession(test, forge, 'shell', 'true');
  expect(await next.calls('Set-up: ')).toHaveLength(2);
});

it.each([
  ['nothing', {}, 'Nothing defines an environment of this repository.'],
  [
    'no set-up',
    { [environmentFile]: 'start: x\n' },
    'The environment has no set-up commands, so there is nothing to build.',
  ],
  ['errors', { [environmentFile]: 'setup: [1\n' }, `${environmentFile}, line`],
])('says that the repository defines %s', async (_name, files, reason) => {
  const forge = await addUsed(files);
  await build(forge);
  const [last] = (await readBuilds(test, forge)).slice(-1);
  expect(last).toMatchObject({ state: 'FAILED', log: expect.stringContaining(reason) });
});

it('shows the log while the set-up runs, without the beginning of a secret', async () => {
  const value = 'canary-of-the-live-log-0123456789';
  const secret = { type: 'KEY_VALUE', organizationId: test.organizationId, key: 'LIVE_TOKEN', value };
  await runMutation(test, 'createSecret', '', secret);
  const forge = await addUsed({});
  const setup = 'echo begins; echo "$LIVE_TOKEN"; printf %s "$LIVE_TOKEN" | cut -c 1-20 | tr -d "\\n"; sleep 1000';
  const environmentDefinition = JSON.stringify({ setup, secrets: ['LIVE_TOKEN'] });
  const input = { repositoryId: await repositoryId(forge), organizationId: test.organizationId, agent: 'shell' };
  const { environmentBuild } = await runMutation(test, 'buildEnvironment', fields, { ...input, environmentDefinition });
  const logOf = async () => (await readBuilds(test, forge))[0]?.log ?? '';
  await expect.poll(logOf, { timeout: 60_000 }).toContain('begins');
  expect(await logOf()).toMatch(/begins\n\*{8}\n$/);

  const again = await runMutation(test, 'buildEnvironment', '', input);
  expect(again).toMatchObject({ userErrors: [{ code: 'INVALID_STATE' }] });
  await runMutation(test, 'terminateSession', '', { sessionId: environmentBuild.session.sessionId });
  await failEndedBuilds(test.app.services);
  const [stopped] = await readBuilds(test, forge);
  expect(stopped).toMatchObject({ state: 'FAILED', log: expect.stringContaining('was stopped') });
  expect(JSON.stringify(stopped)).not.toContain('canary');
});

/** Delivers a push to a branch of the repository, and lets a worker read the environments that are due. */
async function push(forge: GitForge, branch = 'main'): Promise<void> {
  const { store, now, notifier } = test.app.services;
  const [connection] = await store.query<{ id: string }>('select id from git_connection where host_key = $1', [
    forge.host,
  ]);
  const event = { type: 'push', ref: `refs/heads/${branch}`, before: null, after: 'f'.repeat(40) } as const;
  const arrived = { gitConnectionId: connection?.id ?? '', repositoryPath: 'Acme/site', event };
  await store.transact((tx) => wantEnvironmentReads(tx, [arrived, arrived], now()));
  await store.execute(
    'update environment_read set due_at = $1::timestamptz where due_at is not null returning due_at',
    [now()],
  );
  notifier.notify('environments');
  const due = () => store.query('select 1 from environment_read where due_at is not null');
  await expect.poll(due, { timeout: 60_000 }).toEqual([]);
}

const stateOf = async (forge: GitForge) =>
  (await readBuilds(test, forge)).map(({ state, trigger }) => `${trigger} ${state}`);

it('builds when the default branch changes, once, and the next session starts with the result', async () => {
  const lock = (version: number) => ({ 'package-lock.json': `{"lockfileVersion": ${version}}` });
  const forge = await addUsed({
    ...{ '.gitignore': 'deps\n', ...lock(1) },
    [environmentFile]: 'setup:\n  - cat package-lock.json >> deps\n  - "! grep 9 package-lock.json"\n',
  });
  const [first] = await readBuilds(test, forge);
  await push(forge);
  expect(await stateOf(forge)).toEqual(['SESSION READY']);

  await commit(forge, lock(2));
  await push(forge, 'other');
  expect(await stateOf(forge)).toEqual(['SESSION READY']);
  await push(forge);
  await push(forge);
  await expect.poll(() => stateOf(forge), { timeout: 60_000 }).toEqual(['SESSION READY', 'PUSH READY']);
  // A build in advance is no use.
  expect((await readBuilds(test, forge))[1]?.usedAt).toEqual(first?.usedAt);
  const session = await runSession(test, forge, 'shell', 'cat deps');
  expect(session.output).toBe('{"lockfileVersion": 1}{"lockfileVersion": 2}');
  expect(await session.calls('Set-up: ')).toEqual([]);

  await commit(forge, lock(9));
  await push(forge);
  const failed = ['SESSION READY', 'PUSH READY', 'PUSH FAILED'];
  await expect.poll(() => stateOf(forge), { timeout: 60_000 }).toEqual(failed);
  await push(forge);
  expect(await stateOf(forge)).toEqual(failed);

  const input = { repositoryId: await repositoryId(forge), isEnvironmentBuiltOnPush: false };
  await runMutation(test, 'updateRepository', '', input);
  await commit(forge, lock(3));
  await push(forge);
  expect(await stateOf(forge)).toEqual(failed);
});

it('shows the environment that applies, with its errors', async () => {
  const forge = await addUsed({ [environmentFile]: 'setup: echo one\nsecrets: [TOKEN]\n' });
  const repository = await repositoryId(forge);
  const input = { repositoryId: repository, organizationId: test.organizationId };
  const selection =
    'environment { path commit isDefined setup secrets error readAt problems { severity line message } }';
  const read = async () => {
    const { data } = await graphql(
      test,
      test.adminToken,
      `query($id: ID!, $path: String!) { organization(id: $id) { repository(path: $path) { ${selection} } } }`,
      { id: test.organizationId, path: repository },
    );
    return data.organization.repository.environment;
  };
  expect(await read()).toBeNull();
  await runMutation(test, 'refreshEnvironment', '', input);
  await expect.poll(read, { timeout: 60_000 }).toMatchObject({
    ...{ path: environmentFile, commit: expect.stringMatching(/^[0-9a-f]{40}$/), isDefined: true, error: null },
    ...{ setup: ['echo one'], secrets: ['TOKEN'], problems: [] },
  });
  await commit(forge, { [environmentFile]: 'setup: echo one\nstar: two\n' });
  await runMutation(test, 'refreshEnvironment', '', input);
  await expect.poll(read, { timeout: 60_000 }).toMatchObject({
    ...{
      isDefined: false,
      setup: [],
      problems: [{ severity: 'ERROR', line: 2, message: expect.stringContaining('"star"') }],
    },
  });
  await runMutation(test, 'updateRepository', '', {
    repositoryId: repository,
    environmentDefinition: 'setup: echo mine',
  });
  expect(await read()).toMatchObject({ path: null, commit: null, setup: ['echo mine'], readAt: null });
});
