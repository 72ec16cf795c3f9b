import { afterAll, beforeAll, expect, it } from 'vitest';
import { claimMentions } from '../../src/domain/mentions/claim-mentions.ts';
import { processMention } from '../../src/domain/mentions/process-mention.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { type Clock, stopClock } from '../support/clock.ts';
import { openPullRequestAt } from '../support/followed-pull-requests.ts';
import { connectApp, deliver } from '../support/forge-events.ts';
import { startGithub, type TestGithub } from '../support/forges/github.ts';
import type { TestConnection } from '../support/git-webhooks.ts';
import { commented } from '../support/mentions.ts';

let github: TestGithub;
let test: TestApp;
let clock: Clock;
let connection: TestConnection;

beforeAll(async () => {
  github = await startGithub();
  // Without a scheduler: the test is the process that is interrupted.
  test = await startApp({ isHttpForgeAllowed: true });
  clock = stopClock(test);
  connection = await connectApp(test, github);
  await github.person('POST', '/repos/acme/site/issues', { title: 'The login fails' });
});
afterAll(async () => {
  await test.close();
  await github.close();
});

const sender = { id: 1, login: 'octocat', type: 'User' };
const mentionOn = async (issue: object) => {
  await deliver(test, connection.path, 'issue_comment', commented('@switchyard do it', { ...issue }, { sender }));
};
/** Claims the mention that is due after the claims of processes that died have expired. */
const claim = async () => {
  clock.advance(3 * 60_000);
  const [claimed, ...others] = await claimMentions(test.app.services, 10);
  expect(others).toEqual([]);
  if (!claimed) throw new Error('No mention is due.');
  return claimed;
};
const answersOn = async (number: number) => {
  const comments = (await github.person('GET', `/repos/acme/site/issues/${number}/comments`)) as unknown as {
    body: string;
  }[];
  return comments.filter(({ body }) => body.startsWith('Switchyard:')).length;
};
const sessions = async () => (await test.app.services.store.query('select id from session')).length;

it('starts one session if a second process takes over, or both work at once', async () => {
  await mentionOn({ number: 1 });
  await claim();
  const again = await claim();
  await Promise.all([processMention(test.app.services, again), processMention(test.app.services, again)]);
  expect([await sessions(), await answersOn(1)]).toEqual([1, 1]);
  expect(await claimMentions(test.app.services, 10)).toEqual([]);
});

it('writes the answer that a process did not reach', async () => {
  await mentionOn({ number: 1 });
  await processMention(test.app.services, await claim());
  const before = [await sessions(), await answersOn(1)];
  await test.app.services.store.execute(`update mention set status = 'answering', answer = 'Switchyard: late', answer_started_at = null,
    next_attempt_at = created_at where created_at = (select max(created_at) from mention) returning id`);
  await processMention(test.app.services, await claim());
  expect([await sessions(), await answersOn(1)]).toEqual([before[0], (before[1] ?? 0) + 1]);
});

it('does not write an answer twice if it is there, or may be there', async () => {
  const number = await openPullRequestAt(github, 'acme/site', 'interrupted');
  for (const issue of [{ number: 1 }, { number, 'pull_request': { url: 'x' } }]) {
    await mentionOn(issue);
    const claimed = await claim();
    await processMention(test.app.services, claimed);
    const before = [await sessions(), await answersOn(issue.number)];
    const [row] = await test.app.services.store.query<{ sessionId: string }>(
      'select session_id as "sessionId" from mention where id = $1',
      [claimed.id],
    );
    await test.app.services.store.execute(
      `update mention set status = 'answering', next_attempt_at = created_at, answer = $2 where id = $1 returning id`,
      [claimed.id, `Switchyard: a session works on this: ${test.url}/sessions/${row?.sessionId}`],
    );
    await processMention(test.app.services, await claim());
    expect([await sessions(), await answersOn(issue.number)]).toEqual(before);
  }
});
