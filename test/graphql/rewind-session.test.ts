import { expect, it } from 'vitest';
import { recordCheckpoint } from '../../src/domain/execution/checkpoints/record-checkpoint.ts';
import { transcriptDigest } from '../../src/domain/execution/prompts/transcript-digest.ts';
import { claimRuns } from '../../src/domain/execution/runs/claims.ts';
import { readStateNote } from '../../src/domain/execution/runs/state-note.ts';
import { endTurn, readInbox, readStopNote, startTurn } from '../../src/domain/execution/runs/turns.ts';
import { newId, prefixedId } from '../../src/domain/ids.ts';
import { FencedError } from '../../src/domain/sessions/log.ts';
import { asAdministrator } from '../rest/rest-app.ts';
import { graphql } from '../support/app.ts';
import { newSegmentId, savedState } from '../support/checkpoints.ts';
import { makeManager, makeRole, runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { saveCheckpoint, sessionWithCheckpoint } from '../support/session-checkpoints.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
const selection = 'session { status statusDetail } checkpoint { checkpointId kind turn isCurrent }';
const rewind = (sessionId: string, point: object, token = test.adminToken) =>
  runMutation(test, 'rewindSession', selection, { sessionId: prefixedId('session', sessionId), point }, token);

const room = { slots: 100, memoryMb: 100_000, isEmpty: true, memoryOf: () => 1 };
async function claim(sessionId: string) {
  // The worker that had it before has returned it.
  await test.app.services.store.execute('delete from lease where session_id = $1', [sessionId]);
  const { claimed } = await claimRuns(
    await asAdministrator(test),
    { workerId: 'w'.repeat(16), leaseMs: 60_000, affinityMs: 0 },
    room,
  );
  const run = claimed.find((each) => each.sessionId === sessionId);
  if (!run) throw new Error('The session was not claimed.');
  return run;
}
const runOf = async (sessionId: string) => {
  const rows = await test.app.services.store.query<Record<string, unknown>>(
    `select generation, queued_at as "queuedAt", is_turn_open as "isTurnOpen", checkpoint_id as "checkpointId", turn_count as turn,
            is_restore_requested as "isRestoreRequested", agent_session_id as "agentSessionId" from run where session_id = $1`,
    [sessionId],
  );
  return rows[0] as Record<string, unknown>;
};
const send = (sessionId: string, body: string) =>
  runMutation(test, 'sendMessage', 'message { seq }', { sessionId: prefixedId('session', sessionId), body });
const start = async (run: Awaited<ReturnType<typeof claim>>) => {
  const context = await asAdministrator(test);
  await startTurn(context, run, { messages: await readInbox(context, run.sessionId), isAfterStop: false });
};
const end = async (run: Awaited<ReturnType<typeof claim>>) =>
  endTurn(await asAdministrator(test), run, 'end_turn', [], { status: 'running', statusDetail: 'waiting_for_user' });

/** Runs turns of a session, each with a checkpoint at its end. Returns the run and the checkpoints. */
async function turns(sessionId: string, count: number) {
  const run = await claim(sessionId);
  const checkpoints: string[] = [];
  for (let turn = 1; turn <= count; turn++) {
    if (turn > 1) await send(sessionId, `Message ${turn}`);
    await start(run);
    await say(test, sessionId, `Answer ${turn}`);
    await end(run);
    checkpoints.push(await saveCheckpoint(test, sessionId, { kind: 'TURN_END', agentSessionId: `agent-${turn}` }));
  }
  return { run, checkpoints };
}

it('reverts to the end of a turn, and the log continues', async () => {
  const sessionId = await createSession(test);
  const { run, checkpoints } = await turns(sessionId, 3);
  const before = await runOf(sessionId);
  const result = await rewind(sessionId, { turn: 1 });
  expect(result).toMatchObject({
    session: { status: 'RUNNING', statusDetail: 'WAITING_FOR_USER' },
    checkpoint: { kind: 'REWIND', turn: 1, isCurrent: true },
    userErrors: [],
  });
  const after = await runOf(sessionId);
  expect(prefixedId('checkpoint', after.checkpointId as string)).toBe(result.checkpoint.checkpointId);
  expect(after).toMatchObject({ isRestoreRequested: true, agentSessionId: 'agent-1', queuedAt: null, turn: 3 });
  expect(after.generation).toBe((before.generation as number) + 1);
  const { data } = await graphql(
    test,
    test.adminToken,
    `query($id: ID!) { session(id: $id) { checkpoint { kind }
       checkpoints(first: 10) { totalCount nodes { kind turn isCurrent storedBytes bytes files missing { path } } }
       ofTurn: checkpoints(filter: {kinds: [TURN_END], turn: 2}) { nodes { checkpointId } }
       events(kinds: [REWIND], last: 1) { nodes { ... on RewindEvent {
         body turn toSeq checkpoint { checkpointId turn } rewoundBy { displayName } } } } } }`,
    { id: prefixedId('session', sessionId) },
  );
  const [, second] = checkpoints;
  expect(data.session).toMatchObject({
    checkpoint: { kind: 'REWIND' },
    checkpoints: {
      totalCount: 4,
      nodes: [
        { kind: 'REWIND', turn: 1, isCurrent: true, storedBytes: 0, bytes: 7, files: 2, missing: [] },
        { kind: 'TURN_END', turn: 3, isCurrent: false, storedBytes: 10 },
        { kind: 'TURN_END', turn: 2, isCurrent: false },
        { kind: 'TURN_END', turn: 1, isCurrent: false },
      ],
    },
    ofTurn: { nodes: [{ checkpointId: prefixedId('checkpoint', second as string) }] },
    events: {
      nodes: [
        {
          body: 'The session’s files and agent were reverted to the end of turn 1. The log continues.',
          ...{ turn: 1, checkpoint: { turn: 1 }, rewoundBy: { displayName: expect.any(String) } },
        },
      ],
    },
  });
  // The worker that had the session cannot write any more.
  const state = savedState([newSegmentId()]);
  const point = { turn: 3, seq: 1, agentSessionId: null };
  await expect(recordCheckpoint(test.app.services, run, { kind: 'WORK', point, state })).rejects.toThrow(FencedError);
  await expect(end(run)).rejects.toThrow(FencedError);
});

it('gives the digest what holds again after a rewind to a reverted turn', async () => {
  const sessionId = await createSession(test);
  await turns(sessionId, 3);
  await rewind(sessionId, { turn: 1 });
  await say(test, sessionId, 'Answer 4');
  await rewind(sessionId, { turn: 2 });
  const digest = await transcriptDigest(await asAdministrator(test), sessionId);
  expect(digest.match(/(?:Message|Answer) \d/g)).toEqual(['Answer 1', 'Message 2', 'Answer 2']);
});

it('tells the agent of the next turn, and leaves what was reverted out of its digest', async () => {
  const sessionId = await createSession(test);
  await turns(sessionId, 3);
  await rewind(sessionId, { turn: 1 });
  const services = await asAdministrator(test);
  const plan = { repositories: [] };
  const note = await readStateNote(services, sessionId, { isInterrupted: false, plan });
  expect(note).toMatchObject({ hasHistory: true, text: expect.stringContaining('at the end of turn 1, again') });
  expect(await readStopNote(services, sessionId, false)).toBeNull();
  await send(sessionId, 'Message 4');
  const digest = await transcriptDigest(services, sessionId);
  expect(digest).toContain('Answer 1');
  expect(digest).toContain('Message 4');
  expect(digest).not.toMatch(/(?:Message|Answer) [23]/);
  const run = await claim(sessionId);
  const messages = await readInbox(services, sessionId);
  await startTurn(services, run, { messages, isAfterStop: false, hasStateNote: true });
  // Once for the turn and for its other attempts, and not for the next one.
  expect(await readStateNote(services, sessionId, { isInterrupted: true, plan })).toEqual(note);
  await end(run);
  expect(await readStateNote(services, sessionId, { isInterrupted: false, plan })).toBeNull();
});

it('stops a turn that runs, and keeps the messages that wait', async () => {
  const sessionId = await createSession(test);
  const { run, checkpoints } = await turns(sessionId, 1);
  await send(sessionId, 'Second');
  await start(run);
  await send(sessionId, 'Waits');
  const [checkpointId = ''] = checkpoints;
  const rewound = await Promise.all([1, 2].map(() => rewind(sessionId, { checkpointId })));
  expect(rewound.map(({ userErrors }) => userErrors)).toEqual([[], []]);
  expect(await runOf(sessionId)).toMatchObject({ isTurnOpen: false, queuedAt: null, isRestoreRequested: true });
  const { data } = await graphql(
    test,
    test.adminToken,
    `query($id: ID!) { session(id: $id) { queuedMessages { body } events(kinds: [TURN, REWIND], last: 3) { nodes {
       __typename ... on TurnEvent { phase stopReason } } } } }`,
    { id: prefixedId('session', sessionId) },
  );
  expect(data.session).toEqual({
    queuedMessages: [{ body: 'Waits' }],
    events: {
      nodes: [
        { __typename: 'TurnEvent', phase: 'STOPPED', stopReason: 'CANCELLED' },
        { __typename: 'RewindEvent' },
        { __typename: 'RewindEvent' },
      ],
    },
  });
  await send(sessionId, 'Go on');
  const services = await asAdministrator(test);
  const again = await claim(sessionId);
  expect((await readInbox(services, sessionId)).map(({ body }) => body)).toEqual(['Waits', 'Go on']);
  await start(again);
  await end(again);
  const digest = await transcriptDigest(services, sessionId);
  expect(digest).toContain('User: Waits');
  expect(digest).not.toContain('Second');
});

it('rewinds sessions that sleep, finished or failed, and refuses those that take no messages', async () => {
  const { store } = test.app.services;
  for (const [status, detail] of [
    ['suspended', 'user_request'],
    ['exit', 'finished'],
    ['error', null],
  ]) {
    const sessionId = await createSession(test);
    const checkpointId = await saveCheckpoint(test, sessionId);
    await store.execute('update session set status = $2, status_detail = $3 where id = $1', [
      sessionId,
      status,
      detail,
    ]);
    await store.execute('update run set queued_at = null where session_id = $1', [sessionId]);
    const { session } = await rewind(sessionId, { checkpointId });
    expect(session.status).toBe(status?.toUpperCase());
    expect(await runOf(sessionId)).toMatchObject({ isRestoreRequested: true });
  }
  for (const act of ['archiveSession', 'terminateSession']) {
    const { sessionId, checkpointId } = await sessionWithCheckpoint(test);
    await runMutation(test, act, 'session { id }', { sessionId });
    const refused = await rewind(sessionId.slice('devin-'.length), { checkpointId });
    expect(refused).toMatchObject({ session: null, userErrors: [{ code: 'INVALID_STATE' }] });
  }
});

it('refuses points that the session does not have', async () => {
  const sessionId = await createSession(test);
  const { run } = await turns(sessionId, 1);
  const code = async (point: object) => {
    const { data, errors } = await graphql(
      test,
      test.adminToken,
      `mutation($input: RewindSessionInput!) { rewindSession(input: $input) { userErrors { code path message } } }`,
      { input: { sessionId: prefixedId('session', sessionId), point } },
    );
    return errors?.[0].extensions.code ?? data.rewindSession.userErrors[0];
  };
  expect(await code({ turn: 2 })).toMatchObject({ code: 'INVALID_INPUT', path: ['input', 'point', 'turn'] });
  expect(await code({ turn: 0 })).toMatchObject({ code: 'INVALID_INPUT', path: ['input', 'point', 'turn'] });
  expect(await code({ checkpointId: newId() })).toBe('NOT_FOUND');
  expect(await code({ checkpointId: 'x' })).toBe('NOT_FOUND');
  // Also the checkpoint of another session, in this organization or another one.
  const other = await makeOrganization(test, 'Elsewhere');
  for (const { checkpointId } of [await sessionWithCheckpoint(test), await sessionWithCheckpoint(test, other.token)]) {
    expect(await code({ checkpointId })).toBe('NOT_FOUND');
  }
  await send(sessionId, 'Second');
  await start(run);
  expect(await code({ turn: 2 })).toMatchObject({ code: 'INVALID_STATE', message: 'Turn 2 has not ended.' });
  await end(run);
  expect(await code({ turn: 2 })).toMatchObject({ code: 'INVALID_STATE' });
});

it('is for those who may change the session', async () => {
  const { sessionId, checkpointId } = await sessionWithCheckpoint(test);
  const id = sessionId.slice('devin-'.length);
  const { roleId } = await makeRole(test, 'ORGANIZATION', ['VIEW_ORG_SESSIONS', 'USE_SESSIONS']);
  const viewer = await makeUser(test, { roleId });
  const stranger = await makeOrganization(test, 'Strangers');
  const codeOf = async (token: string, sessionId: string) => {
    const { errors } = await graphql(
      test,
      token,
      `mutation($input: RewindSessionInput!) { rewindSession(input: $input) { session { id } userErrors { code } } }`,
      { input: { sessionId, point: { checkpointId } } },
    );
    return errors?.[0].extensions.code;
  };
  expect(await codeOf(viewer.token, sessionId)).toBe('FORBIDDEN');
  expect(await codeOf(viewer.token, newId())).toBe('FORBIDDEN');
  expect(await codeOf(stranger.token, sessionId)).toBe('NOT_FOUND');
  expect(await codeOf(stranger.token, newId())).toBe('NOT_FOUND');
  const hidden = await graphql(
    test,
    stranger.token,
    'query($id: ID!) { checkpoint(id: $id) { id } node(id: $id) { id } }',
    {
      id: checkpointId,
    },
  );
  expect(hidden.data).toEqual({ checkpoint: null, node: null });
  expect((await runOf(id)).isRestoreRequested).toBe(false);
  const { token: manager } = await makeManager(test, 'VIEW_ACCOUNT_SESSIONS', 'MANAGE_ACCOUNT_SESSIONS');
  expect(await rewind(id, { checkpointId }, manager)).toMatchObject({ userErrors: [] });
});
