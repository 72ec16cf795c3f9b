import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeFollowUps } from '../../src/domain/follow-ups/write-follow-ups.ts';
import { newId } from '../../src/domain/ids.ts';
import { applyAnswer } from '../../src/domain/pull-requests/apply-answer.ts';
import { asSystem } from '../../src/domain/sessions/as-system.ts';
import { lockSession } from '../../src/domain/sessions/change-session.ts';
import type { PullRequestStatus } from '../../src/forges/interface/pull-requests.ts';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { noticesOf } from '../support/follow-ups.ts';
import { runMutation } from '../support/people.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';

const url = 'https://git.test/acme/site/pull/7';
const subscription = `subscription($id: ID!) { sessionUpdated(sessionId: $id) {
  pullRequests { title followUpMode checks { state } followUps { followUpId state } } } }`;
const answer: PullRequestStatus = {
  ...{ number: 7, url, title: 'First', body: '', state: 'open', author: null, headBranch: 'work', headCommit: 'a1' },
  ...{ headRepository: null, baseBranch: 'main', labels: [], reviewers: [], createdAt: null, updatedAt: null },
  ...{ mergedAt: null, closedAt: null, mergeCommit: null, mergeable: 'mergeable', checks: [], reviews: [] },
  ...{ isTruncated: false, validator: 'v1' },
};
const failed = {
  id: '1',
  name: 'unit',
  state: 'failed',
  summary: null,
  url: null,
  hasLog: false,
  completedAt: null,
} as const;

let test: TestApp;
beforeAll(async () => {
  test = await startApp({ roles: ['api'] });
});
afterAll(() => test.close());

/** Stores what a forge answered, as a read does. */
async function apply(sessionId: string, change: Partial<PullRequestStatus> = {}): Promise<void> {
  const context = asSystem(test.app.services, '');
  await context.store.transact(async (tx) => {
    const session = await lockSession(tx, sessionId, null);
    const of = { url, repositoryId: newId(), generation: null };
    await applyAnswer(context, tx, session, { ...of, answer: { ...answer, ...change } });
  });
}

/** Stores a follow-up of a read. Equal ones are one. */
async function found(sessionId: string): Promise<void> {
  const checks = {
    key: 'checks:a1:1',
    kind: 'checks',
    summary: 'The check "unit" failed',
    body: 'It failed.',
  } as const;
  await writeFollowUps(asSystem(test.app.services, ''), {
    ...{ sessionId, subject: { url, host: 'git.test', baseBranch: 'main', commit: 'a1' } },
    ...{ pullRequest: { gitConnectionId: newId(), path: 'acme/site', number: 7 } },
    ...{ found: [{ ...checks, commentIds: [] }], reviews: [], loose: [], isOld: false, mask: (text) => text },
  });
}

async function start() {
  const sessionId = await createSession(test);
  await apply(sessionId);
  const following = follow(connect(test.url, test.adminToken), subscription, { id: sessionId });
  const next = async () => (await following.take(1))[0].data.sessionUpdated.pullRequests[0];
  expect(await next()).toMatchObject({ title: 'First', followUpMode: 'SUGGEST', checks: [], followUps: [] });
  return { sessionId, next };
}

const version = async (id: string): Promise<number> => {
  const sql = 'select pull_requests_version as version from session where id = $1';
  const [row] = await test.app.services.store.query<{ version: number }>(sql, [id]);
  return row?.version ?? -1;
};

it('sends the session after each change of what a pull request shows, and not after a read that found none', async () => {
  const { sessionId, next } = await start();
  await apply(sessionId, { checks: [failed] });
  expect((await next()).checks).toEqual([{ state: 'FAILED' }]);
  const before = await version(sessionId);
  await apply(sessionId, { checks: [failed], validator: 'v2' });
  expect(await version(sessionId)).toBe(before);
  await found(sessionId);
  expect((await next()).followUps).toMatchObject([{ state: 'SUGGESTED' }]);
  await found(sessionId);
  expect(await version(sessionId)).toBe(before + 1);
  await apply(sessionId, { title: 'Second', checks: [failed] });
  expect((await next()).title).toBe('Second');
});

it('sends the session after a person decided about follow-ups, and names the person in its log', async () => {
  const { sessionId, next } = await start();
  await found(sessionId);
  const [{ followUpId }] = (await next()).followUps;
  expect((await runMutation(test, 'dismissFollowUp', '', { followUpId })).userErrors).toEqual([]);
  expect((await next()).followUps).toMatchObject([{ state: 'DISMISSED' }]);
  expect((await runMutation(test, 'sendFollowUp', '', { followUpId })).userErrors).toEqual([]);
  const set = (mode: string | null) => runMutation(test, 'setPullRequestFollowUp', '', { sessionId, url, mode });
  for (const mode of ['AUTO', 'AUTO', null]) expect((await set(mode)).userErrors).toEqual([]);
  await test.app.services.store.execute(
    `update pull_request set follow_up_stop = 'day' where session_id = $1 returning url`,
    [sessionId],
  );
  expect((await set(null)).userErrors).toEqual([]);
  const { data: read } = await graphql(test, test.adminToken, '{ viewer { principal { displayName } } }', {});
  const name = read.viewer.principal.displayName;
  expect((await noticesOf(test, sessionId)).slice(1)).toEqual([
    `${name} dismissed a follow-up of ${url}: The check "unit" failed.`,
    `${name} sent a follow-up of ${url}: The check "unit" failed.`,
    `${name} changed the follow-ups of ${url}: automatic.`,
    `${name} changed the follow-ups of ${url}: as its repository says.`,
    `${name} let the follow-ups of ${url} continue.`,
  ]);
});

it('shows the message of a follow-up before it is sent, cut after 10,000 characters', async () => {
  const { sessionId, next } = await start();
  await found(sessionId);
  const [{ followUpId }] = (await next()).followUps;
  const read = async (token = test.adminToken) => {
    const document = 'query($id: ID!) { followUp(id: $id) { messagePreview } }';
    return (await graphql(test, token, document, { id: followUpId })).data?.followUp ?? null;
  };
  expect(await read()).toEqual({ messagePreview: 'It failed.' });
  const { store } = test.app.services;
  await store.execute('update follow_up set body = $2 where session_id = $1 returning id', [
    sessionId,
    'x'.repeat(10_001),
  ]);
  expect(await read()).toEqual({ messagePreview: `${'x'.repeat(9_999)}…` });
  const { token } = await makeOrganization(test, 'Other');
  expect(await read(token)).toBeNull();
});
