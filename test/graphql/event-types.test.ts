import { expect, it } from 'vitest';
import { appendEntries, eventKinds, type NewEntry } from '../../src/domain/sessions/log.ts';
import { createSession } from '../support/sessions.ts';
import { gql, query } from '../support/typed-graphql.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const readEvents = gql(`query($id: ID!, $kinds: [SessionEventKind!]) {
  session(id: $id) {
    events(first: 100, kinds: $kinds) {
      nodes {
        __typename seq kind createdAt
        ... on SessionMessage { type body eventId author { __typename } }
        ... on MessageChangedEvent { message { body } change editedBody changedBy { displayName } }
        ... on StatusEvent { status statusDetail request endReason isArchived }
        ... on TurnEvent { turn phase stopReason rawStopReason attempt interruptedSeq }
        ... on PlanEvent { entries { content status priority } }
        ... on ToolCallEvent {
          toolCallId title toolKind rawToolKind toolStatus output locations { path line } diffs { path oldText newText }
        }
        ... on QuestionEvent { question: body reason options { name } }
        ... on PermissionEvent { toolCallId title decision }
        ... on UsageEvent {
          inputTokens outputTokens totalTokens costUsd contextUsed contextSize tokens { input cached output total }
        }
        ... on ThoughtEvent { words: body }
        ... on NoticeEvent { words: body failure agentOutput tags maxAcuLimit }
        ... on LimitEvent { words: body limit acuLimit acusUsed }
        ... on RepositoryEvent { repository repositoryState percent words: body }
        ... on PushEvent { repository branch oldCommit newCommit pushOutcome isForced subjects }
        ... on PullRequestEvent { pullRequest { url state } }
        ... on StructuredOutputEvent { structuredOutput }
        ... on AttachmentEvent { name attachment { attachmentId } }
        ... on RewindEvent { words: body turn toSeq savedAt checkpoint { id } rewoundBy { displayName } }
        ... on ErrorEvent { words: body failure agentOutput }
      }
    }
  }
}`);

const plan = [{ content: 'Look', status: 'pending', priority: 'high' }];
const diffs = [{ path: 'a.txt', oldText: null, newText: 'new' }];
const locations = [{ path: 'a.txt', line: 3 }];

/** An entry of each kind as a worker writes it, and the expected result. */
const written: [NewEntry, Record<string, unknown>][] = [
  [
    { kind: 'MESSAGE', messageType: 'agent_message', body: 'done \u{1F600}' },
    { __typename: 'SessionMessage', type: 'AGENT_MESSAGE', body: 'done \u{1F600}', author: null },
  ],
  [
    {
      kind: 'STATUS',
      data: { status: 'exit', statusDetail: 'finished', request: 'resume', endedBy: 'finished', isArchived: false },
    },
    { __typename: 'StatusEvent', status: 'EXIT', statusDetail: 'FINISHED', request: 'RESUME', endReason: 'FINISHED' },
  ],
  [
    { kind: 'TURN', data: { turn: 2, phase: 'stopped', stopReason: 'end_turn' } },
    {
      ...{ __typename: 'TurnEvent', turn: 2, phase: 'STOPPED', stopReason: 'END_TURN', rawStopReason: 'end_turn' },
      ...{ attempt: null, interruptedSeq: null },
    },
  ],
  [
    { kind: 'PLAN', data: { entries: plan } },
    { __typename: 'PlanEvent', entries: [{ content: 'Look', status: 'PENDING', priority: 'HIGH' }] },
  ],
  [
    {
      kind: 'TOOL_CALL',
      data: { toolCallId: 't1', title: 'Write', toolKind: 'edit', status: 'completed', output: 'ok', locations, diffs },
    },
    {
      __typename: 'ToolCallEvent',
      toolCallId: 't1',
      title: 'Write',
      toolKind: 'EDIT',
      rawToolKind: 'edit',
      toolStatus: 'COMPLETED',
      output: 'ok',
      locations,
      diffs,
    },
  ],
  [
    { kind: 'QUESTION', body: 'Which?', data: { reason: 'question', options: [{ id: 'a', name: 'This one' }] } },
    { __typename: 'QuestionEvent', question: 'Which?', reason: 'QUESTION', options: [{ name: 'This one' }] },
  ],
  [
    { kind: 'PERMISSION', data: { toolCallId: 't1', title: 'Write', decision: 'allowed' } },
    { __typename: 'PermissionEvent', toolCallId: 't1', title: 'Write', decision: 'ALLOWED' },
  ],
  [
    {
      kind: 'USAGE',
      data: { inputTokens: 1, outputTokens: 2, totalTokens: 3, costUsd: 0.25, contextUsed: 4, contextSize: 5 },
    },
    { __typename: 'UsageEvent', inputTokens: 1, outputTokens: 2, totalTokens: 3, costUsd: 0.25, contextUsed: 4 },
  ],
  [
    { kind: 'THOUGHT', body: 'hm' },
    { __typename: 'ThoughtEvent', words: 'hm' },
  ],
  [
    { kind: 'NOTICE', body: 'retried', data: { code: 'agent_failed', stderr: 'oh' } },
    { __typename: 'NoticeEvent', words: 'retried', failure: 'AGENT_FAILED', agentOutput: 'oh', tags: null },
  ],
  [
    { kind: 'LIMIT', data: { limit: 'out_of_quota', acuLimit: 1, acusUsed: 1.5 } },
    { __typename: 'LimitEvent', words: '', limit: 'OUT_OF_QUOTA', acuLimit: 1, acusUsed: 1.5 },
  ],
  [
    {
      kind: 'REPOSITORY',
      data: { repository: 'git.test/acme/site', state: 'CLONING', percent: 40, text: 'Receiving objects: 40%' },
    },
    {
      __typename: 'RepositoryEvent',
      repository: 'git.test/acme/site',
      repositoryState: 'CLONING',
      percent: 40,
      words: 'Receiving objects: 40%',
    },
  ],
  [
    {
      kind: 'PUSH',
      data: { repository: 'git.test/acme/site', branch: 'work', old: null, new: 'a'.repeat(40), subjects: ['Fix'] },
    },
    {
      __typename: 'PushEvent',
      repository: 'git.test/acme/site',
      branch: 'work',
      oldCommit: null,
      newCommit: 'a'.repeat(40),
      pushOutcome: 'ACCEPTED',
      isForced: null,
      subjects: ['Fix'],
    },
  ],
  [
    { kind: 'PULL_REQUEST', data: { url: 'https://example.test/1', state: 'open' } },
    { __typename: 'PullRequestEvent', pullRequest: { url: 'https://example.test/1', state: 'OPEN' } },
  ],
  [
    { kind: 'STRUCTURED_OUTPUT', data: { output: [1, null, { deep: true }] } },
    { __typename: 'StructuredOutputEvent', structuredOutput: [1, null, { deep: true }] },
  ],
  [
    { kind: 'ATTACHMENT', body: 'a.txt' },
    { __typename: 'AttachmentEvent', name: 'a.txt', attachment: null },
  ],
  [
    { kind: 'REWIND', body: 'Reverted.', data: { turn: 2, toSeq: 7, savedAt: '2026-01-01T00:00:00.000Z' } },
    {
      ...{ __typename: 'RewindEvent', words: 'Reverted.', turn: 2, toSeq: 7, savedAt: '2026-01-01T00:00:00.000Z' },
      checkpoint: null,
    },
  ],
  [
    { kind: 'MESSAGE_CHANGED', body: 'Better', data: { change: 'edited' } },
    { __typename: 'MessageChangedEvent', message: null, change: 'EDITED', editedBody: 'Better' },
  ],
  [
    { kind: 'ERROR', body: 'It crashed.', data: { code: 'agent_not_found' } },
    { __typename: 'ErrorEvent', words: 'It crashed.', failure: 'AGENT_NOT_FOUND', agentOutput: null },
  ],
];

const write = (id: string, entries: readonly NewEntry[]) => {
  const { store, now } = test.app.services;
  return appendEntries(store, id, null, entries, now());
};

it('reads an entry of every kind as its own type, with its fields', async () => {
  const entries = written.map(([entry]) => entry);
  expect(new Set(entries.map(({ kind }) => kind))).toEqual(new Set(eventKinds));
  const id = await createSession(test);
  await write(id, entries);
  const { session } = await query(test, test.adminToken, readEvents, { id });
  const read = session?.events?.nodes ?? [];
  expect(read.map(({ seq }) => seq)).toEqual(Array.from({ length: written.length + 2 }, (_, n) => n + 1));
  expect(read.map(({ kind }) => kind)).toEqual(['STATUS', 'MESSAGE', ...entries.map(({ kind }) => kind)]);
  for (const [n, [, expected]] of written.entries()) expect(read[n + 2]).toMatchObject(expected);
});

it.each(written)('reads only entries of the requested kind: %o', async (entry, expected) => {
  const id = await createSession(test);
  await write(id, [...written.map(([each]) => each), ...written.map(([each]) => each)]);
  const { session } = await query(test, test.adminToken, readEvents, { id, kinds: [entry.kind] });
  const own = entry.kind === 'MESSAGE' || entry.kind === 'STATUS' ? 1 : 0;
  const read = session?.events?.nodes ?? [];
  expect(read).toHaveLength(own + 2);
  expect(new Set(read.map(({ kind }) => kind))).toEqual(new Set([entry.kind]));
  expect(read[own + 1]).toMatchObject(expected);
});

it('returns an empty value for an entry without one, never an error', async () => {
  const id = await createSession(test);
  const kinds = eventKinds.filter((kind) => kind !== 'MESSAGE' && kind !== 'STATUS');
  await write(
    id,
    kinds.map((kind) => ({ kind })),
  );
  const { session } = await query(test, test.adminToken, readEvents, { id, kinds });
  expect(session?.events?.nodes.map(({ kind }) => kind)).toEqual(kinds);
});

it('describes the subject of a notice by fields', async () => {
  const id = await createSession(test);
  await write(id, [
    { kind: 'NOTICE', body: 'Tags: a.', data: { tags: ['a'] } },
    { kind: 'NOTICE', body: 'The session may use 7 ACUs.', data: { maxAcuLimit: 7 } },
  ]);
  const { session } = await query(test, test.adminToken, readEvents, { id, kinds: ['NOTICE'] });
  expect(session?.events?.nodes).toMatchObject([
    { failure: null, agentOutput: null, tags: ['a'], maxAcuLimit: null },
    { failure: null, agentOutput: null, tags: null, maxAcuLimit: 7 },
  ]);
});

it('returns an unknown enum value as OTHER or null, with the text where the set is open', async () => {
  const id = await createSession(test);
  await write(id, [
    { kind: 'TURN', data: { turn: 1, phase: 'paused', stopReason: 'bored' } },
    { kind: 'PLAN', data: { entries: [{ content: 'x', status: 'dropped', priority: 'urgent' }] } },
    { kind: 'TOOL_CALL', data: { toolKind: 'teleport', status: 'vanished' } },
    { kind: 'QUESTION', data: { reason: 'curiosity' } },
    { kind: 'PERMISSION', data: { decision: 'perhaps' } },
    { kind: 'LIMIT', data: { limit: 'sky' } },
    { kind: 'ERROR', data: { code: 'gremlins' } },
    { kind: 'PULL_REQUEST', data: { url: 'https://example.test/1', state: 'lost' } },
    { kind: 'REPOSITORY', data: { state: 'lost', percent: 'most' } },
    { kind: 'NOTICE', data: { tags: ['a', 1], maxAcuLimit: 'many' } },
    { kind: 'TURN', data: { turn: 3, phase: 'started', attempt: 2, interruptedSeq: 1 } },
    { kind: 'TURN', data: { turn: 3, phase: 'started', attempt: 'second', interruptedSeq: -1 } },
  ]);
  const { session } = await query(test, test.adminToken, readEvents, { id });
  expect(session?.events?.nodes.slice(2)).toMatchObject([
    { phase: 'STARTED', stopReason: 'OTHER', rawStopReason: 'bored' },
    { entries: [{ content: 'x', status: 'OTHER', priority: 'OTHER' }] },
    { toolKind: 'OTHER', rawToolKind: 'teleport', toolStatus: 'PENDING' },
    { reason: 'QUESTION' },
    { decision: 'CANCELLED' },
    { limit: null },
    { failure: null },
    { pullRequest: { state: 'OPEN' } },
    { repositoryState: 'PENDING', percent: null },
    { tags: null, maxAcuLimit: null },
    { turn: 3, phase: 'STARTED', attempt: 2, interruptedSeq: 1 },
    { turn: 3, phase: 'STARTED', attempt: null, interruptedSeq: null },
  ]);
});

it('shows a number above an Int where possible, and never an impossible one', async () => {
  const id = await createSession(test);
  const data = {
    inputTokens: 2 ** 31,
    outputTokens: -5,
    totalTokens: 1.5,
    cachedTokens: 2 ** 52,
    contextUsed: 2 ** 31,
  };
  await write(id, [{ kind: 'USAGE', data }]);
  const { session } = await query(test, test.adminToken, readEvents, { id, kinds: ['USAGE'] });
  expect(session?.events?.nodes).toMatchObject([
    {
      inputTokens: null,
      outputTokens: null,
      totalTokens: null,
      contextUsed: null,
      tokens: { input: 2 ** 31, cached: 2 ** 52, output: null, total: null },
    },
  ]);
});
