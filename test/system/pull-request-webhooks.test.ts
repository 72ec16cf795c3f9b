import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import {
  addCommit,
  type Followed,
  type FollowUpTest,
  finishCheck,
  longWait,
  makeFollowed,
  startFollowUps,
} from '../support/follow-ups.ts';
import { runMutation } from '../support/people.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { appendToLog } from '../support/sessions.ts';
import { makeEndpoint } from '../support/webhooks.ts';

let all: FollowUpTest;
beforeAll(async () => {
  all = await startFollowUps({ isPrivateWebhookAllowed: true });
});
afterAll(() => all.close());

/** Fails a check of a new commit that the agent pushed. */
async function fail(pull: Followed): Promise<void> {
  const head = await addCommit(all, pull);
  const push = { repository: 'acme/site', branch: 'x', old: null, new: head, outcome: 'accepted', refusal: null };
  await appendToLog(all.test, pull.sessionId, { kind: 'PUSH', data: push });
  await finishCheck(all, { ...pull, head }, 'unit');
  await all.passOnAll({ 'check_run': 1 });
  await all.settled();
}

/** Resolves with the types of the events of a session, in the order of its log, once they are these. */
async function waitForTypes({ received }: Receiver, sessionId: string, types: readonly string[]): Promise<any[]> {
  const events = () =>
    received
      .map(({ body }) => body)
      .filter(({ data }) => data.sessionId === `devin-${sessionId}` && data.status === undefined)
      .sort((one, other) => one.data.sequence - other.data.sequence);
  await vi.waitFor(() => expect(events().map(({ type }) => type)).toEqual(types), longWait);
  return events();
}

it('sends events of pull requests and follow-ups, each once, by the types that an endpoint receives', async () => {
  const { test } = all;
  const [everything, some] = [await startReceiver(), await startReceiver()];
  const { organizationId } = test;
  await makeEndpoint(test, test.adminToken, { organizationId, url: everything.url });
  await makeEndpoint(test, test.adminToken, {
    ...{ organizationId, url: some.url, eventTypes: ['SESSION_MESSAGE', 'SESSION_PULL_REQUEST_CLOSED'] },
  });
  const pull = await makeFollowed(all);
  const { sessionId, url } = pull;
  for (let n = 0; n < 5; n++) await fail(pull);
  await all.github.person('PATCH', pull.path, { state: 'closed' });
  await all.passOnAll({ 'pull_request': 1 });
  await all.settled();
  await all.github.person('PATCH', pull.path, { state: 'open' });
  await all.passOnAll({ 'pull_request': 1 });
  await all.settled();
  await all.github.person('PUT', `${pull.path}/merge`, {});
  await all.passOnAll({ 'pull_request': 1 });
  await all.settled();

  const followUp = 'session.follow_up_sent';
  const events = await waitForTypes(everything, sessionId, [
    ...['session.message', 'session.pull_request_opened', followUp, followUp, followUp, 'session.follow_ups_stopped'],
    ...['session.pull_request_closed', 'session.pull_request_opened', 'session.pull_request_merged'],
  ]);
  expect(events[1].data).toMatchObject({ pullRequestUrl: url, pullRequestState: 'open', isReviewed: false });
  expect(events[2].data).toMatchObject({
    ...{ messageType: 'user_message', message: expect.stringContaining('The check "unit" failed') },
    ...{ followUpId: expect.stringMatching(/^follow-up-/), followUpKind: 'checks', pullRequestUrl: url },
  });
  expect(events[5].data).toMatchObject({ pullRequestUrl: url, limit: 'checks' });
  expect(events[8].data).toMatchObject({ pullRequestUrl: url, pullRequestState: 'merged', isReviewed: false });
  expect(new Set(events.map(({ data }) => data.eventId)).size).toBe(events.length);
  const message = 'session.message';
  await waitForTypes(some, sessionId, [message, message, message, message, 'session.pull_request_closed']);
});

it('does not say that a session opened the pull request that it reviews', async () => {
  const { test } = all;
  const receiver = await startReceiver();
  const { organizationId } = test;
  const eventTypes = ['SESSION_PULL_REQUEST_OPENED', 'SESSION_PULL_REQUEST_MERGED'];
  await makeEndpoint(test, test.adminToken, { organizationId, url: receiver.url, eventTypes });
  const { url, path } = await makeFollowed(all);
  const { session } = await runMutation(test, 'reviewPullRequest', 'session { sessionId }', {
    ...{ organizationId, pullRequestUrl: url },
  });
  await all.settled();
  all.held();
  await all.github.person('PUT', `${path}/merge`, {});
  await all.passOnAll({ 'pull_request': 1 });
  await all.settled();
  const id = session.sessionId.replace('devin-', '');
  const [{ data }] = await waitForTypes(receiver, id, ['session.pull_request_merged']);
  expect(data).toMatchObject({ pullRequestUrl: url, isReviewed: true });
});
