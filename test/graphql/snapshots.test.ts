import { expect, it } from 'vitest';
import { isKept } from '../../src/domain/checkpoints/kept-checkpoints.ts';
import { readStateNote } from '../../src/domain/execution/runs/state-note.ts';
import { takeDueWorkspaces } from '../../src/domain/execution/workspaces/deletable.ts';
import { newId, prefixedId } from '../../src/domain/ids.ts';
import { call, makeServiceKey } from '../rest/rest-app.ts';
import { graphql } from '../support/app.ts';
import { makeRole, runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { saveCheckpoint, sessionWithCheckpoint } from '../support/session-checkpoints.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
let names = 0;
const unique = () => `Base ${names++}`;
const create = (input: object, token = test.adminToken) =>
  runMutation(test, 'createSnapshot', 'snapshot { snapshotId name checkpoint { checkpointId } }', { ...input }, token);

async function makeSnapshot(token = test.adminToken) {
  const { sessionId, checkpointId } = await sessionWithCheckpoint(test, token);
  const { snapshot, userErrors } = await create({ sessionId, name: unique() }, token);
  expect(userErrors).toEqual([]);
  return { ...snapshot, sessionId, checkpointId };
}

const runOf = async (id: string) => {
  const [run] = await test.app.services.store.query<any>(
    `select r.is_restore_requested as "isRestoreRequested", r.agent_session_id as "agentSessionId", c.kind, c.lender_ids as "lenderIds"
       from run r left join checkpoint c on c.id = r.checkpoint_id where r.session_id = $1`,
    [id],
  );
  return run;
};
const noticesOf = async (id: string) => {
  const notices = `select body from log_entry where session_id = $1 and kind = 'NOTICE' order by seq`;
  return (await test.app.services.store.query<{ body: string }>(notices, [id])).map(({ body }) => body);
};

it('gives a name to the newest checkpoint or to another one', async () => {
  const { sessionId, checkpointId } = await sessionWithCheckpoint(test);
  const newer = prefixedId('checkpoint', await saveCheckpoint(test, sessionId.slice('devin-'.length)));
  const name = unique();
  expect((await create({ sessionId, name })).snapshot).toMatchObject({ name, checkpoint: { checkpointId: newer } });
  const older = await create({ sessionId, name: unique(), point: { checkpointId } });
  expect(older.snapshot).toMatchObject({ checkpoint: { checkpointId } });
  const refusals = [
    [{ name }, { code: 'NOT_UNIQUE', path: ['input', 'name'] }],
    [{ name: ' ' }, { code: 'INVALID_INPUT', path: ['input', 'name'] }],
    [{ name: `snapshot-${newId()}` }, { code: 'INVALID_INPUT', path: ['input', 'name'] }],
    [{ name: unique(), sessionId: await createSession(test) }, { code: 'INVALID_STATE' }],
  ] as const;
  for (const [input, expected] of refusals) {
    expect(await create({ sessionId, ...input })).toMatchObject({ snapshot: null, userErrors: [expected] });
  }
});

it('starts sessions by its id or its name, in GraphQL, v1 and v3', async () => {
  const { snapshotId, name, sessionId: sourceId } = await makeSnapshot();
  const started = {
    ...{ isRestoreRequested: true, kind: 'FORK', lenderIds: [sourceId.slice('devin-'.length)] },
    // The agent begins again.
    agentSessionId: null,
  };
  const id = await createSession(test, { snapshotId });
  expect(await runOf(id)).toEqual(started);
  expect(await noticesOf(id)).toEqual([`The session begins with the files of the snapshot "${name}".`]);
  const note = await readStateNote(test.app.services, id, { isInterrupted: false, plan: {} });
  expect(note).toMatchObject({ hasHistory: false, text: expect.stringContaining(`the snapshot "${name}"`) });
  const path = `/v3/organizations/${test.organizationId}/sessions`;
  const v3 = await call(test, test.adminToken, 'POST', path, { prompt: 'say hello', snapshot_id: name });
  expect(v3.body).toMatchObject({ snapshot_id: name });
  expect(await runOf(v3.body.session_id)).toEqual(started);
  const token = await makeServiceKey(test, test.organizationId);
  const v1 = await call(test, token, 'POST', '/v1/sessions', { prompt: 'say hello', snapshot_id: snapshotId });
  expect(await runOf(v1.body.session_id.slice('devin-'.length))).toEqual(started);
});

it('takes any other value without an effect, and says so', async () => {
  const foreign = await makeSnapshot((await makeOrganization(test, 'Snapshot strangers')).token);
  for (const snapshotId of [foreign.snapshotId, foreign.name, `snapshot-${newId()}`, 'machine-7']) {
    const id = await createSession(test, { snapshotId });
    expect(await runOf(id)).toMatchObject({ isRestoreRequested: false, kind: null });
    expect(await noticesOf(id)).toEqual([
      `There is no snapshot ${JSON.stringify(snapshotId)} in the organization, so the session begins with an empty workspace.`,
    ]);
    const query =
      'query($id: ID!) { session(id: $id) { snapshotId events(kinds: [NOTICE]) { nodes { ...on NoticeEvent { isWarning } } } } }';
    const { data } = await graphql(test, test.adminToken, query, { id });
    expect(data.session).toEqual({ snapshotId, events: { nodes: [{ isWarning: true }] } });
  }
});

it('keeps its checkpoint until it is deleted, or its organization', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Kept');
  const kept = () =>
    test.app.services.store.query(`select c.id from checkpoint c where c.organization_id = $1 and ${isKept}`, [
      organizationId.slice('org-'.length),
    ]);
  const { snapshotId, sessionId } = await makeSnapshot(token);
  await runMutation(test, 'terminateSession', 'session { id }', { sessionId }, token);
  expect(await kept()).toHaveLength(1);
  await runMutation(test, 'deleteSnapshot', 'deletedSnapshotId', { snapshotId }, token);
  expect(await kept()).toEqual([]);
  await makeSnapshot(token);
  expect(await kept()).toHaveLength(1);
  await runMutation(test, 'deleteOrganization', 'deletedOrganizationId', { organizationId });
  expect(await kept()).toEqual([]);
});

it('keeps its files when those of its session are deleted', async () => {
  const { services } = test.app;
  const deletions = [
    (sessionId: string) => runMutation(test, 'deleteSessionWorkspace', 'session { id }', { sessionId }),
    (sessionId: string) => {
      const times = { workspaceRetentionMs: 0, workspaceInactiveMs: null, workspaceReleaseMs: null };
      return takeDueWorkspaces({ ...services, now: () => new Date(Date.now() + 60_000) }, 'worker-1', times, [
        sessionId,
      ]);
    },
  ];
  for (const remove of deletions) {
    const { snapshotId, name, sessionId } = await makeSnapshot();
    const id = sessionId.slice('devin-'.length);
    await saveCheckpoint(test, id);
    await runMutation(test, 'terminateSession', 'session { id }', { sessionId });
    await remove(id);
    const left = 'select id from checkpoint where session_id = $1';
    expect(await services.store.query(left, [id])).toHaveLength(1);
    const started = await createSession(test, { snapshotId });
    expect(await noticesOf(started)).toEqual([`The session begins with the files of the snapshot "${name}".`]);
  }
});

it('is listed in its organization, and changed by its creator and by managers', async () => {
  const { roleId } = await makeRole(test, 'ORGANIZATION', ['VIEW_ORG_SESSIONS', 'USE_SESSIONS']);
  const viewer = await makeUser(test, { roleId });
  const member = await makeUser(test);
  const stranger = await makeOrganization(test, 'List strangers');
  const own = await makeSnapshot(member.token);
  const list =
    'query($id: ID!, $name: String) { organization(id: $id) { snapshots(filter: {search: $name}, orderBy: {field: NAME, direction: ASC}) { totalCount nodes { name viewerCanManage { isAllowed } } } } }';
  const read = async (token: string) =>
    (await graphql(test, token, list, { id: test.organizationId, name: own.name })).data.organization?.snapshots;
  expect(await read(viewer.token)).toEqual({
    totalCount: 1,
    nodes: [{ name: own.name, viewerCanManage: { isAllowed: false } }],
  });
  expect(await read(member.token)).toMatchObject({ nodes: [{ viewerCanManage: { isAllowed: true } }] });
  const codeOf = async (token: string, snapshotId: string) => {
    const update =
      'mutation($input: UpdateSnapshotInput!) { updateSnapshot(input: $input) { snapshot { name } userErrors { code } } }';
    const { data, errors } = await graphql(test, token, update, { input: { snapshotId, description: 'Said' } });
    return errors?.[0].extensions.code ?? data.updateSnapshot.snapshot.name;
  };
  expect(await codeOf(viewer.token, own.snapshotId)).toBe('FORBIDDEN');
  expect(await codeOf(viewer.token, `snapshot-${newId()}`)).toBe('FORBIDDEN');
  expect(await codeOf(stranger.token, own.snapshotId)).toBe('NOT_FOUND');
  expect(await codeOf(member.token, own.snapshotId)).toBe(own.name);
  expect(await codeOf(test.adminToken, own.snapshotId)).toBe(own.name);
  // A member may not make one of another user's session.
  const { sessionId } = await sessionWithCheckpoint(test);
  const forbidden = await graphql(
    test,
    member.token,
    'mutation($input: CreateSnapshotInput!) { createSnapshot(input: $input) { snapshot { id } } }',
    { input: { sessionId, name: unique() } },
  );
  expect(forbidden.errors?.[0].extensions.code).toBe('FORBIDDEN');
});
