import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startApp } from '../support/app.ts';
import { openPullRequestAt, reportPullRequest, statesOf } from '../support/followed-pull-requests.ts';
import { personToken, startGithub } from '../support/forges/github.ts';
import { connectForgeAt, githubHeaders, pullRequestBody } from '../support/git-webhooks.ts';
import { postTo } from '../support/incoming-webhooks.ts';
import { freePort, startServer } from '../support/server.ts';
import { createSession } from '../support/sessions.ts';
import { testDatabase } from '../support/test-store.ts';

/** Number of events; each is delivered twice. */
const count = 150;
const kills = 10;
const repository = 'acme/site';

// PGlite always runs in one process.
describe.skipIf(testDatabase !== 'postgres')('webhooks of a forge, processed by processes that are killed', () => {
  it('are processed exactly once, and none is lost', { timeout: 180_000 }, async () => {
    const root = mkdtempSync(join(tmpdir(), 'switchyard-deliveries-'));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const github = await startGithub();
    onTestFinished(() => github.close());
    // It stores the deliveries, and has no scheduler.
    const test = await startApp({ isHttpForgeAllowed: true, rateLimitGitWebhook: 0 });
    onTestFinished(() => test.close());
    const startScheduler = async (name: string) =>
      startServer({
        DATABASE_URL: test.databaseUrl ?? '',
        SECRET_KEY: 'a secret key that is only for the tests',
        LOG_LEVEL: 'error',
        // The database of a test is a copy.
        MAINTENANCE: 'false',
        GIT_ALLOW_HTTP: 'true',
        ROLES: 'scheduler',
        DATA_DIR: join(root, name),
        PORT: String(await freePort()),
      });
    const { id, path } = await connectForgeAt(test, github.url, { token: personToken });
    const pulls: { readonly sessionId: string; readonly number: number }[] = [];
    for (let n = 0; n < 5; n += 1) {
      const sessionId = await createSession(test, { repositories: [{ repository }] });
      const number = await openPullRequestAt(github, repository, `feature-${n}`);
      await reportPullRequest(test, sessionId, `${github.url}/${repository}/pull/${number}`);
      await github.person('PUT', `/repos/${repository}/pulls/${number}/merge`, {});
      pulls.push({ sessionId, number });
    }
    const deliveries = Array.from({ length: count }, (_, n) => {
      const body = pullRequestBody(repository, pulls[n % pulls.length]?.number ?? 0);
      return { body, headers: githubHeaders(body) };
    });
    const shuffled = [...deliveries, ...deliveries]
      .map((each) => ({ each, at: Math.random() }))
      .sort((one, other) => one.at - other.at)
      .map(({ each }) => each);
    const steady = await startScheduler('steady');
    const statuses: number[] = [];
    const sending = (async () => {
      for (const { body, headers } of shuffled) statuses.push((await postTo(test, path, body, headers)).status);
    })();
    for (let n = 0; n < kills; n += 1) await (await startScheduler(`killed-${n}`)).kill();
    await steady.kill();
    await sending;
    const last = await startScheduler('last');
    // The claims of killed processes expire.
    await test.app.services.store.execute(
      `update followed_pull_request set claimed_until_at = claimed_until_at - interval '1 hour'
        where claimed_until_at is not null returning id`,
    );
    const rows = () =>
      test.app.services.store.query<{ status: string; attempts: number; count: number }>(
        `select status, attempt_count as attempts, count(*)::int as count from git_delivery
          where git_connection_id = $1 group by 1, 2`,
        [id],
      );
    await vi.waitFor(async () => expect(await rows()).toEqual([{ status: 'processed', attempts: 1, count }]), {
      timeout: 60_000,
    });
    expect(statuses.filter((status) => status === 202)).toHaveLength(count);
    expect(statuses.filter((status) => status === 200)).toHaveLength(count);
    for (const { sessionId } of pulls) {
      await vi.waitFor(async () => expect((await statesOf(test, sessionId)).v3).toEqual(['merged']), {
        timeout: 60_000,
      });
      const entries = await test.app.services.store.query<{ data: { state: string } }>(
        `select data from log_entry where session_id = $1 and kind = 'PULL_REQUEST' order by seq`,
        [sessionId],
      );
      expect(entries.map(({ data }) => data.state)).toEqual(['open', 'merged']);
    }
    await last.stop();
  });
});
