import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { setMode } from '../support/follow-ups.ts';
import { openPullRequestAt, reportPullRequest } from '../support/followed-pull-requests.ts';
import { installationId, startGithub, type TestGithub } from '../support/forges/github.ts';
import { connectForgeAt, githubHeaders, pullRequestBody } from '../support/git-webhooks.ts';
import { postTo } from '../support/incoming-webhooks.ts';
import { commented } from '../support/mentions.ts';
import { freePort, type ServerProcess, startServer } from '../support/server.ts';
import { createSession } from '../support/sessions.ts';
import { testDatabase } from '../support/test-store.ts';

/** Webhooks of the second part, each delivered twice; kills; and pull requests of each part. Larger numbers are for measurements. */
const webhookCount = Number(process.env.FOLLOW_UP_WEBHOOKS ?? 120);
const killCount = Number(process.env.FOLLOW_UP_KILLS ?? 4);
const pullCount = Number(process.env.FOLLOW_UP_PULLS ?? 8);
const timeout = Number(process.env.FOLLOW_UP_SECONDS ?? 180) * 1_000;
const repository = 'acme/site';

interface Pull {
  readonly sessionId: string;
  readonly number: number;
  readonly head: string;
}

const checkBody = ({ head, number }: Pull, conclusion = 'failure') =>
  JSON.stringify({
    action: 'completed',
    'check_run': { id: number, name: 'unit', 'head_sha': head, status: 'completed', conclusion },
    repository: { 'full_name': repository },
    nonce: randomUUID(),
  });

// PGlite always runs in one process.
describe.skipIf(testDatabase !== 'postgres')('follow-ups of a service whose processes are killed', () => {
  it('reach each session exactly once', { timeout }, async () => {
    const root = mkdtempSync(join(tmpdir(), 'switchyard-follow-ups-'));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const github = await startGithub();
    onTestFinished(() => github.close());
    // It stores the deliveries, and has no scheduler.
    const test = await startApp({ isHttpForgeAllowed: true, rateLimitGitWebhook: 0 });
    onTestFinished(() => test.close());
    let processes = 0;
    const startScheduler = async () => {
      processes += 1;
      return startServer({
        ...{ DATABASE_URL: test.databaseUrl ?? '', SECRET_KEY: 'a secret key that is only for the tests' },
        // The database of a test is a copy.
        ...{ LOG_LEVEL: 'error', MAINTENANCE: 'false', GIT_ALLOW_HTTP: 'true', ROLES: 'scheduler' },
        ...{ DATA_DIR: join(root, String(processes)), PORT: String(await freePort()) },
      });
    };
    const app = { appId: '12345', privateKey: github.privateKey, installationId: String(installationId) };
    const { path } = await connectForgeAt(test, github.url, { providerType: 'GITHUB_APP', token: null, ...app });
    const running: ServerProcess[] = [await startScheduler()];
    const deliver = (event: string, body: string) => postTo(test, path, body, githubHeaders(body, { event }));

    // Alone, the time from the webhook to the message.
    const first = await makePulls(test, github, 'first');
    const times: number[] = [];
    for (const pull of first) {
      await failCheck(github, pull);
      const body = checkBody(pull);
      const sentAt = Date.now();
      await Promise.all([deliver('check_run', body), deliver('check_run', body)]);
      const message = await vi.waitUntil(async () => (await messagesOf(test, [pull]))[0], { timeout, interval: 20 });
      times.push(message.at.getTime() - sentAt);
    }
    times.sort((a, b) => a - b);

    // Under load, while processes are killed.
    const second = await makePulls(test, github, 'second');
    for (const pull of second) await failCheck(github, pull);
    for (const { number } of second) {
      const comments = ['One', 'Two'].map((body, n) => ({ path: 'a.ts', position: n + 1, body }));
      const review = { event: 'REQUEST_CHANGES', body: 'Change it', comments };
      await github.person('POST', `/repos/${repository}/pulls/${number}/reviews`, review);
    }
    const mentions = await Promise.all(second.map((pull) => mention(github, pull)));
    const bodies = Array.from({ length: webhookCount }, (_, n): [event: string, body: string] => {
      const pull = second[n % second.length] as Pull;
      if (n % 3 === 0) return ['pull_request', pullRequestBody(repository, pull.number)];
      return ['check_run', checkBody(pull, n % 3 === 1 ? 'failure' : 'success')];
    });
    bodies.push(...mentions.map((body): [string, string] => ['issue_comment', body]));
    const shuffled = [...bodies, ...bodies]
      .map((each) => ({ each, at: Math.random() }))
      .sort((one, other) => one.at - other.at);
    running.push(...(await Promise.all([startScheduler(), startScheduler()])));
    const sending = (async () => {
      for (const { each } of shuffled) await deliver(...each);
    })();
    for (let n = 0; n < killCount; n += 1) {
      await running.shift()?.kill();
      running.push(await startScheduler());
    }
    const killedAt = new Date();
    await sending;
    // The claims of killed processes expire.
    await test.app.services.store.execute(
      `update followed_pull_request set claimed_until_at = claimed_until_at - interval '1 hour'
        where claimed_until_at is not null returning id`,
    );
    const wanted = second.flatMap(({ sessionId }) => [`${sessionId} checks`, `${sessionId} review`]);
    // A comment whose webhook arrives late is sent as a follow-up of comments.
    const isWanted = ({ kind }: Sent) => kind !== 'comments';
    const found = async () =>
      (await messagesOf(test, second)).filter(isWanted).map(({ sessionId, kind }) => `${sessionId} ${kind}`);
    await vi.waitUntil(async () => new Set(await found()).size === wanted.length, { timeout });
    await vi.waitUntil(
      async () => {
        const sql = `select 1 from git_delivery where next_attempt_at is not null union all
        select 1 from followed_pull_request where wanted_at is not null or claimed_until_at is not null`;
        return (await test.app.services.store.query(sql)).length === 0;
      },
      { timeout },
    );
    expect((await found()).sort()).toEqual(wanted.sort());
    expect((await messagesOf(test, first)).length).toBe(first.length);
    // Claims last two minutes.
    await test.app.services.store.execute(
      `update mention set next_attempt_at = created_at where next_attempt_at < $1::timestamptz returning id`,
      [new Date(killedAt.getTime() + 2 * 60_000)],
    );
    const waiting = 'select 1 from mention where next_attempt_at is not null';
    await vi.waitUntil(async () => (await test.app.services.store.query(waiting)).length === 0, { timeout });
    expect(await mentionsOf(test, github, second)).toEqual(second.map(() => ({ messages: 1, answers: 1 })));
    const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))];
    process.stderr.write(
      `${2 * webhookCount} deliveries, ${killCount} kills: ${wanted.length} follow-ups, none lost or repeated. ` +
        `Webhook to message: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms of ${times.length}.\n`,
    );
  });
});

/** Sessions with an open pull request each, whose follow-ups are sent at once. */
async function makePulls(test: TestApp, github: TestGithub, name: string): Promise<Pull[]> {
  const pulls: Pull[] = [];
  for (let n = 0; n < pullCount; n += 1) {
    const sessionId = await createSession(test, { repositories: [{ repository }] });
    const number = await openPullRequestAt(github, repository, `${name}-${n}`);
    const url = `${github.url}/${repository}/pull/${number}`;
    await reportPullRequest(test, sessionId, url);
    const { head } = (await github.person('GET', `/repos/${repository}/pulls/${number}`)) as { head: { sha: string } };
    pulls.push({ sessionId, number, head: head.sha });
  }
  const sql = `select session_id as id, url from pull_request where session_id = any($1::text[])`;
  const ids = pulls.map(({ sessionId }) => sessionId);
  const read = () => test.app.services.store.query<{ id: string; url: string }>(sql, [ids]);
  await vi.waitUntil(async () => (await read()).length === pullCount, { timeout });
  for (const { id: sessionId, url } of await read()) await setMode(test, { sessionId, url }, 'AUTO');
  const settled = 'select 1 from followed_pull_request where wanted_at is not null or claimed_until_at is not null';
  await vi.waitUntil(async () => (await test.app.services.store.query(settled)).length === 0, { timeout });
  return pulls;
}

function failCheck(github: TestGithub, { head }: Pull): Promise<unknown> {
  const run = { name: 'unit', 'head_sha': head, status: 'completed', conclusion: 'failure' };
  return github.person('POST', `/repos/${repository}/check-runs`, run);
}

/** Writes a comment that addresses the service, and returns the body of its webhook. */
async function mention(github: TestGithub, { number }: Pull): Promise<string> {
  const body = '@switchyard rename it';
  const { id } = await github.person('POST', `/repos/${repository}/issues/${number}/comments`, { body });
  const sender = { id: 1, login: 'octocat', type: 'User' };
  const comment = { id: Number(id), body, user: sender };
  return JSON.stringify(commented(body, { number, 'pull_request': {} }, { sender, comment }));
}

/** Counts the messages that brought a mention to each session, and its answers at the forge. */
function mentionsOf(test: TestApp, github: TestGithub, pulls: readonly Pull[]) {
  return Promise.all(
    pulls.map(async ({ sessionId, number }) => {
      const rows = await test.app.services.store.query(
        `select 1 from log_entry where session_id = $1 and kind = 'MESSAGE' and body like '%> @switchyard rename it%'`,
        [sessionId],
      );
      const comments = (await github.person('GET', `/repos/${repository}/issues/${number}/comments`)) as unknown as {
        body: string;
      }[];
      const answers = comments.filter(({ body }) => body.startsWith('Switchyard:'));
      return { messages: rows.length, answers: answers.length };
    }),
  );
}

interface Sent {
  readonly sessionId: string;
  readonly kind: string;
  readonly at: Date;
}

const messagesOf = (test: TestApp, pulls: readonly Pull[]): Promise<Sent[]> =>
  test.app.services.store.query<Sent>(
    `select e.session_id as "sessionId", e.data->'followUp'->>'kind' as kind, e.created_at as at from log_entry e
      where e.session_id = any($1::text[]) and e.kind = 'MESSAGE' and e.data ? 'followUp'`,
    [pulls.map(({ sessionId }) => sessionId)],
  );
