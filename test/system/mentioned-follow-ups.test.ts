import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { finishMention } from '../../src/domain/mentions/claim-mentions.ts';
import {
  type Followed,
  type FollowUpTest,
  followUpMessages,
  longWait,
  makeFollowed,
  startFollowUps,
  statesOfFollowUps,
} from '../support/follow-ups.ts';
import { deliver } from '../support/forge-events.ts';
import { webhookSecret } from '../support/forges/github.ts';
import { commented, settledMentions } from '../support/mentions.ts';

let all: FollowUpTest;
beforeAll(async () => {
  all = await startFollowUps();
});
afterAll(() => all.close());
beforeEach(async () => {
  await settledMentions(all.test);
  await all.test.app.services.store.execute('delete from mention returning id');
});

interface Text {
  readonly id: number;
  readonly body: string;
}
const sender = { id: 1, login: 'octocat', type: 'User' };
const states = (id: string) => statesOfFollowUps(all.test, id);
const followUps = (id: string) => followUpMessages(all.test, id);
/** The messages of mentions. */
const mentions = async (id: string) => {
  const rows = await all.test.app.services.store.query<{ body: string }>(
    `select body from log_entry where session_id = $1 and message_type = 'user_message' and not coalesce(data, '{}') ? 'followUp'
      order by seq`,
    [id],
  );
  return rows.map(({ body }) => body);
};
const comment = (pull: Followed, body: string) =>
  all.github.person('POST', `${pull.path.replace('/pulls/', '/issues/')}/comments`, {
    body,
  }) as unknown as Promise<Text>;

/** Submits a review with comments on lines, without passing anything on. */
async function submitReview(pull: Followed, body: string, comments: readonly string[]) {
  const lines = comments.map((text, n) => ({ path: 'a.ts', position: n + 1, body: text }));
  const review = (await all.github.person('POST', `${pull.path}/reviews`, {
    ...{ event: 'COMMENT', body, comments: lines },
  })) as unknown as Text;
  const of = (await all.github.person('GET', `${pull.path}/comments`)) as unknown as readonly Text[];
  return { review, lines: of };
}

/** Passes on what the forge sent until there is such an event, and waits for the reads. */
async function passOn(event: string): Promise<void> {
  await all.passOnAll({ [event]: 1 });
  await all.settled();
}

const repository = commented('').repository;
const subject = ({ number }: Followed) => ({ number, title: 'A change', body: 'Text', 'html_url': 'https://x.test/1' });
const send = async (event: string, payload: object) => {
  expect((await deliver(all.test, all.hook, event, { ...payload, repository, sender }, webhookSecret)).status).toBe(
    202,
  );
  const found = await settledMentions(all.test);
  await all.settled();
  return found;
};
const sendComment = (pull: Followed, { id, body }: Text) =>
  send('issue_comment', {
    ...{ action: 'created', issue: { ...subject(pull), 'pull_request': {} } },
    comment: { id, body, user: sender },
  });
const sendLine = (pull: Followed, { id, body }: Text) =>
  send('pull_request_review_comment', {
    ...{ action: 'created', 'pull_request': subject(pull) },
    comment: { id, body, user: sender, path: 'a.ts' },
  });
const sendReview = (pull: Followed, { id, body }: Text) =>
  send('pull_request_review', {
    action: 'submitted',
    'pull_request': { ...subject(pull), state: 'open', head: { ref: 'x', sha: pull.head }, base: { ref: 'main' } },
    review: { id, body, user: sender, state: 'commented', 'commit_id': pull.head },
  });
async function quiet(): Promise<void> {
  all.clock.advance(31_000);
  all.test.app.services.notifier.notify('follow-ups');
  await all.settled();
}
const pick = (texts: readonly Text[], body: string): Text => {
  const found = texts.find((each) => each.body === body);
  if (!found) throw new Error(`No text ${body}`);
  return found;
};

it('sends a review without the line comment that was a mention', async () => {
  const pull = await makeFollowed(all);
  const { lines } = await submitReview(pull, 'In general', ['@switchyard rename it', 'Too long', 'Why?']);
  await sendLine(pull, pick(lines, '@switchyard rename it'));
  await passOn('pull_request_review');
  await vi.waitFor(async () => expect(await states(pull.sessionId)).toEqual(['review sent']), longWait);
  expect(await mentions(pull.sessionId)).toEqual([expect.stringContaining('> @switchyard rename it')]);
  const [text] = await followUps(pull.sessionId);
  expect(text).toContain('octocat reviewed (2 comments)');
  expect(text?.match(/^> (?:In general|Too long|Why\?|@switchyard.*)$/gm)).toEqual([
    '> In general',
    '> Too long',
    '> Why?',
  ]);
});

it('sends the comments of a review whose text was a mention, and nothing if all of it was', async () => {
  const pull = await makeFollowed(all);
  const first = await submitReview(pull, '@switchyard do all of this', ['One', 'Two']);
  await sendReview(pull, first.review);
  const second = await submitReview(pull, '@switchyard and this', []);
  await sendReview(pull, second.review);
  await passOn('pull_request_review');
  await vi.waitFor(
    async () => expect(await states(pull.sessionId)).toEqual(['review skipped', 'review sent']),
    longWait,
  );
  expect(await mentions(pull.sessionId)).toHaveLength(2);
  const [text, ...more] = await followUps(pull.sessionId);
  expect(more).toEqual([]);
  expect(text?.match(/^> .*$/gm)).toEqual(['> One', '> Two']);
  // The record of it does not depend on the mention, which is deleted after a while.
  await all.test.app.services.store.execute('delete from mention returning id');
  await all.github.person('PATCH', pull.path, { title: 'Read it again' });
  await passOn('pull_request');
  expect(await states(pull.sessionId)).toEqual(['review skipped', 'review sent']);
});

it('does not repeat a follow-up that was sent before the webhook of the mention arrived, and answers it', async () => {
  const pull = await makeFollowed(all);
  const { lines } = await submitReview(pull, '', ['@switchyard rename it', 'Too long']);
  await passOn('pull_request_review');
  await vi.waitFor(async () => expect(await states(pull.sessionId)).toEqual(['review sent']), longWait);
  const found = await sendLine(pull, pick(lines, '@switchyard rename it'));
  expect(found).toMatchObject([{ status: 'done', sessionId: pull.sessionId }]);
  expect(await mentions(pull.sessionId)).toEqual([]);
  expect(await followUps(pull.sessionId)).toHaveLength(1);
  const answers = (await all.github.person('GET', `${pull.path}/comments`)) as unknown as readonly Text[];
  expect(answers.map(({ body }) => body)).toContainEqual(
    expect.stringMatching(/^Switchyard: the session of this pull request got the message/),
  );
});

it('takes a mention out of comments and suggestions that wait', async () => {
  const pull = await makeFollowed(all);
  const texts = [await comment(pull, 'One'), await comment(pull, '@switchyard two'), await comment(pull, 'Three')];
  // A read before the webhooks finds all three.
  all.held();
  all.clock.advance(11 * 60_000);
  all.test.app.services.notifier.notify('pull-requests');
  await vi.waitFor(async () => expect(await states(pull.sessionId)).toEqual(['comments pending']), longWait);
  await sendComment(pull, pick(texts, '@switchyard two'));
  await quiet();
  expect(await mentions(pull.sessionId)).toEqual([expect.stringContaining('> @switchyard two')]);
  const [text, ...more] = await followUps(pull.sessionId);
  expect(more).toEqual([]);
  expect(text?.match(/^> .*$/gm)).toEqual(['> One', '> Three']);

  const suggested = await makeFollowed(all, { mode: 'SUGGEST' });
  const { review } = await submitReview(suggested, '@switchyard do it', []);
  // The read before the webhook.
  all.held();
  all.clock.advance(11 * 60_000);
  all.test.app.services.notifier.notify('pull-requests');
  await vi.waitFor(async () => expect(await states(suggested.sessionId)).toEqual(['review suggested']), longWait);
  await sendReview(suggested, review);
  expect(await states(suggested.sessionId)).toEqual(['review skipped']);
  expect(await mentions(suggested.sessionId)).toHaveLength(1);
});

it('leaves a comment alone until it is known if it is a mention', async () => {
  const pull = await makeFollowed(all);
  const { id } = await comment(pull, '@switchyard by somebody');
  const { store, now } = all.test.app.services;
  // Another process has claimed it.
  await store.execute(
    `insert into mention (id, enterprise_id, git_connection_id, host, path, path_key, source_key, number, is_pull_request,
       author_login, body, title, description, status, next_attempt_at, created_at)
     select 'undecided', c.enterprise_id, c.id, c.host_key, 'acme/site', 'acme/site', $1, $2, true, 'x', '', '', '', 'pending',
            $3::timestamptz + interval '1 hour', $3::timestamptz from git_connection c returning id`,
    [`comment:${id}`, pull.number, now()],
  );
  all.held();
  await comment(pull, 'Another');
  await passOn('issue_comment');
  await quiet();
  const sent = async () => (await followUps(pull.sessionId)).map((text) => text.match(/^> .*$/gm));
  expect(await sent()).toEqual([['> Another']]);
  await finishMention(all.test.app.services, 'undecided', 'ignored');
  await all.settled();
  await quiet();
  expect(await sent()).toEqual([['> Another'], ['> @switchyard by somebody']]);
});
