import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { startApp } from '../support/app.ts';
import { createAutomation } from '../support/automations.ts';
import { connectApp, deliver, labeled } from '../support/forge-events.ts';
import { startGithub } from '../support/forges/github.ts';
import { freePort, startServer } from '../support/server.ts';
import { testDatabase } from '../support/test-store.ts';

/** Number of events; each is delivered twice, and two automations react to it. */
const count = 40;
const kills = 3;

// PGlite always runs in one process.
it.skipIf(testDatabase !== 'postgres')(
  'starts one run for each event and automation while processes are killed',
  { timeout: 180_000 },
  async () => {
    const root = mkdtempSync(join(tmpdir(), 'switchyard-forge-events-'));
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
    const { path } = await connectApp(test, github);
    const hasLabel = { any: [{ all: [{ field: 'label.name', operator: 'MATCHES', value: '^ag' }] }] };
    for (const name of ['One', 'Two']) {
      await createAutomation(test, {
        name,
        triggers: [{ event: { eventType: 'github:issues', conditions: hasLabel } }],
      });
    }
    const payloads = Array.from({ length: count }, () => labeled());
    const shuffled = [...payloads, ...payloads]
      .map((payload) => ({ payload, at: Math.random() }))
      .sort((one, other) => one.at - other.at);
    const sending = (async () => {
      for (const { payload } of shuffled) await deliver(test, path, 'issues', payload);
    })();
    for (let n = 0; n < kills; n += 1) await (await startScheduler(`killed-${n}`)).kill();
    await sending;
    const servers = await Promise.all([startScheduler('one'), startScheduler('two')]);
    const tally = () =>
      test.app.services.store.query(
        `select count(*)::int as runs, count(distinct (automation_id, delivery_key))::int as once,
                count(distinct session_id)::int as sessions, (select count(*)::int from session) as "allSessions",
                (select count(*)::int from forge_event) as waiting
           from automation_run where status = 'started'`,
      );
    const all = 2 * count;
    await vi.waitFor(
      async () =>
        expect(await tally()).toEqual([{ runs: all, once: all, sessions: all, allSessions: all, waiting: 0 }]),
      { timeout: 60_000 },
    );
    for (const server of servers) await server.stop();
  },
);
