import { expect, it } from 'vitest';
import { transcriptDigest } from '../../src/domain/execution/prompts/transcript-digest.ts';
import { readStateNote } from '../../src/domain/execution/runs/state-note.ts';
import { newId, prefixedId } from '../../src/domain/ids.ts';
import { admitChild } from '../../src/domain/sessions/admit-child.ts';
import { asAdministrator, call } from '../rest/rest-app.ts';
import { graphql } from '../support/app.ts';
import { seedSessionRepository } from '../support/followed-pull-requests.ts';
import { makeRole, runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { saveCheckpoint } from '../support/session-checkpoints.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
const selection =
  'session { sessionId title status statusDetail tags parent { sessionId } forkedFrom { session { sessionId } checkpoint { checkpointId } } checkpoint { kind turn } } wasReplayed';
const fork = (sessionId: string, input: object, token = test.adminToken) =>
  runMutation(test, 'forkSession', selection, { sessionId: prefixedId('session', sessionId), ...input }, token);
const bare = (id: string) => id.slice('devin-'.length);

async function source(input: Record<string, unknown> = {}) {
  const id = await createSession(test, { prompt: 'First question', ...input });
  await say(test, id, 'First answer');
  await test.app.services.store.execute('update run set turn_count = 1 where session_id = $1', [id]);
  const checkpointId = await saveCheckpoint(test, id, { kind: 'TURN_END', agentSessionId: 'agent-1' });
  await say(test, id, 'Later answer');
  return { id, checkpointId };
}

const runOf = async (id: string) => {
  const [run] = await test.app.services.store.query<any>(
    `select r.queued_at is not null as "isQueued", r.is_restore_requested as "isRestoreRequested", r.agent_session_id as "agentSessionId",
            c.lender_ids as "lenderIds", c.segment_ids as "segmentIds", c.parent_id as "parentId"
       from run r join checkpoint c on c.id = r.checkpoint_id where r.session_id = $1`,
    [id],
  );
  return run;
};

it('starts a session with the files and the agent of another one, as its child', async () => {
  const { id, checkpointId } = await source({ title: 'Original', tags: ['kept'] });
  const { session, userErrors } = await fork(id, { point: { turn: 1 }, prompt: 'Try it differently' });
  expect(userErrors).toEqual([]);
  expect(session).toMatchObject({
    ...{ title: 'Try it differently', status: 'NEW', tags: ['kept'], parent: { sessionId: prefixedId('session', id) } },
    forkedFrom: {
      session: { sessionId: prefixedId('session', id) },
      checkpoint: { checkpointId: prefixedId('checkpoint', checkpointId) },
    },
    checkpoint: { kind: 'FORK', turn: 0 },
  });
  const forkId = bare(session.sessionId);
  const segmentIds = (await runOf(id)).segmentIds;
  expect(await runOf(forkId)).toEqual({
    ...{ isQueued: true, isRestoreRequested: true, agentSessionId: 'agent-1' },
    ...{ lenderIds: [id], segmentIds, parentId: checkpointId },
  });
  const services = await asAdministrator(test);
  const note = await readStateNote(services, forkId, { isInterrupted: false, plan: { repositories: [] } });
  expect(note?.text).toMatch(/^This session is a fork of another one, at the end of turn 1/);
  const digest = await transcriptDigest(services, forkId);
  expect(digest).toContain('First answer');
  expect(digest).toContain('Try it differently');
  expect(digest).not.toContain('Later answer');
  // The fork of a fork begins with both.
  const again = await fork(forkId, { point: { checkpointId: (await currentOf(forkId)) as string } });
  expect(again.session).toMatchObject({
    title: 'Try it differently',
    status: 'RUNNING',
    statusDetail: 'WAITING_FOR_USER',
  });
  const grandchild = bare(again.session.sessionId);
  expect(await runOf(grandchild)).toMatchObject({ isQueued: false, lenderIds: [id], segmentIds });
  expect(await transcriptDigest(services, grandchild)).toContain('First answer');
  const { data } = await graphql(
    test,
    test.adminToken,
    `query($id: ID!) { session(id: $id) { forks(first: 5) { totalCount nodes { sessionId } } children(first: 5) { nodes { sessionId } } } }`,
    { id: prefixedId('session', id) },
  );
  const nodes = [{ sessionId: session.sessionId }];
  expect(data.session).toEqual({ forks: { totalCount: 1, nodes }, children: { nodes } });
  const path = `/v3/organizations/${test.organizationId}/sessions`;
  expect((await call(test, test.adminToken, 'GET', `${path}/devin-${id}`)).body).toMatchObject({
    child_session_ids: [forkId],
  });
  const child = await call(test, test.adminToken, 'GET', `${path}/${session.sessionId}`);
  expect(child.body).toMatchObject({ parent_session_id: id });
});

const currentOf = async (id: string) => {
  const { data } = await graphql(test, test.adminToken, 'query($id: ID!) { session(id: $id) { checkpoint { id } } }', {
    id: prefixedId('session', id),
  });
  return data.session.checkpoint?.id;
};

it('waits for its first message without a prompt', async () => {
  const { id, checkpointId } = await source();
  const { session } = await fork(id, { point: { checkpointId }, title: 'Another way' });
  expect(session).toMatchObject({ title: 'Another way', status: 'RUNNING', statusDetail: 'WAITING_FOR_USER' });
  await runMutation(test, 'sendMessage', 'message { seq }', { sessionId: session.sessionId, body: 'Go' });
  expect(await runOf(bare(session.sessionId))).toMatchObject({ isQueued: true, isRestoreRequested: true });
});

it('has the repositories with branches of its own, and tells the agent', async () => {
  const { id, checkpointId } = await source();
  await seedSessionRepository(test, { sessionId: prefixedId('session', id), organizationId: test.organizationId });
  const [before] = await repositoriesOf(id);
  await test.app.services.store.execute(
    `update session_repository set state = 'READY', base_commit = 'abc', base_ref = 'main' where session_id = $1`,
    [id],
  );
  const { session } = await fork(id, { point: { checkpointId }, prompt: 'Go on' });
  const forkId = bare(session.sessionId);
  const [after] = await repositoriesOf(forkId);
  expect(after).toMatchObject({
    ...before,
    branch: expect.any(String),
    state: 'READY',
    baseCommit: 'abc',
    baseRef: 'main',
  });
  expect(after?.branch).not.toBe(before?.branch);
  const plan = { repositories: [after] as never };
  const note = await readStateNote(test.app.services, forkId, { isInterrupted: false, plan });
  expect(note?.text).toContain(`branch \`${before?.branch}\` was`);
  expect(note?.text).toContain(`switch -c ${after?.branch}`);
});

const repositoriesOf = (id: string) =>
  test.app.services.store.query<any>(
    `select repository_id as "repositoryId", path, directory, branch, state, base_commit as "baseCommit", base_ref as "baseRef"
       from session_repository where session_id = $1`,
    [id],
  );

it('gives the session secrets to the principal that started the session only', async () => {
  const { roleId } = await makeRole(test, 'ORGANIZATION', ['VIEW_ORG_SESSIONS', 'USE_SESSIONS', 'MANAGE_ORG_SESSIONS']);
  const manager = await makeUser(test, { roleId });
  const { id, checkpointId } = await source({ sessionSecrets: [{ key: 'TOKEN', value: 'c4n4ry' }] });
  const keysOf = async (token: string, more: object = {}) => {
    const { session } = await fork(id, { point: { checkpointId }, ...more }, token);
    const { keyring, store } = test.app.services;
    const forkId = bare(session.sessionId);
    const rows = await store.query<{ key: string; sealed: string }>(
      'select key, sealed from session_secret where session_id = $1 order by key',
      [forkId],
    );
    return rows.map(({ key, sealed }) => `${key}=${keyring.open(sealed, `${forkId}:${key}`)}`);
  };
  expect(await keysOf(test.adminToken)).toEqual(['TOKEN=c4n4ry']);
  expect(await keysOf(manager.token)).toEqual([]);
  expect(await keysOf(manager.token, { sessionSecrets: [{ key: 'OWN', value: 'c4n4ry-2' }] })).toEqual([
    'OWN=c4n4ry-2',
  ]);
});

it('is for those who may change the session and start sessions', async () => {
  const { id, checkpointId } = await source();
  const stranger = await makeOrganization(test, 'Fork strangers');
  const codeOf = async (token: string, sessionId: string) => {
    const input = { sessionId: prefixedId('session', sessionId), point: { checkpointId } };
    const { errors } = await graphql(
      test,
      token,
      'mutation($input: ForkSessionInput!) { forkSession(input: $input) { session { id } userErrors { code } } }',
      { input },
    );
    return errors?.[0].extensions.code;
  };
  for (const permissions of [
    ['VIEW_ORG_SESSIONS', 'USE_SESSIONS'],
    ['VIEW_ORG_SESSIONS', 'MANAGE_ORG_SESSIONS'],
    ['USE_SESSIONS', 'MANAGE_ORG_SESSIONS'],
  ]) {
    const { roleId } = await makeRole(test, 'ORGANIZATION', permissions);
    const { token } = await makeUser(test, { roleId });
    expect(await codeOf(token, id), permissions.join()).toBe('FORBIDDEN');
  }
  expect(await codeOf(stranger.token, id)).toBe('NOT_FOUND');
  expect(await codeOf(stranger.token, newId())).toBe('NOT_FOUND');
  // A checkpoint of another session, also with an own session.
  const own = await createSession(test, {}, stranger.token);
  expect(await codeOf(stranger.token, own)).toBe('NOT_FOUND');
});

it('refuses a checkpoint whose files were deleted, and counts as none of the agent’s children', async () => {
  const { id, checkpointId } = await source({ maxAcuLimit: 10 });
  await fork(id, { point: { checkpointId } });
  const admitted = await test.app.services.store.transact((tx) =>
    admitChild(tx, { sessionId: id, generation: 0 }, { maxSessionAcuLimit: null }, null),
  );
  expect(admitted).toBe(10);
  const { store } = test.app.services;
  await store.execute(`update checkpoint_segment set state = 'UNUSED' where session_id = $1`, [id]);
  expect(await fork(id, { point: { checkpointId } })).toMatchObject({
    session: null,
    userErrors: [{ code: 'INVALID_STATE', message: 'The files of the checkpoint were deleted.' }],
  });
});
