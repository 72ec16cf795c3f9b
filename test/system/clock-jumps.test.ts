import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished, vi } from 'vitest';
import { call } from '../support/app.ts';
import { createAutomation, recurring } from '../support/automations.ts';
import { builtProgram } from '../support/programs.ts';
import { bootstrapToken, freePort, startServer } from '../support/server.ts';
import { createDatabase, testDatabase } from '../support/test-store.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Starts a server with an adjustable clock, and creates its organization. */
async function startMovable() {
  const dir = mkdtempSync(join(tmpdir(), 'switchyard-clock-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, 'offset');
  let aheadMs = 0;
  const set = (ms: number) => {
    aheadMs = ms;
    // Written atomically, because the server may read it at any moment.
    writeFileSync(`${file}.new`, String(ms));
    renameSync(`${file}.new`, file);
  };
  set(0);
  const database: Record<string, string> =
    testDatabase === 'postgres'
      ? { DATABASE_URL: await createDatabase(), SECRET_KEY: 'the same secret key at every start' }
      : {};
  const { url } = await startServer({
    DATA_DIR: join(dir, 'data'),
    PORT: String(await freePort()),
    LOG_LEVEL: 'warn',
    ROLES: 'api,scheduler',
    NODE_OPTIONS: `--import ${pathToFileURL(builtProgram('moved-clock')).href}`,
    MOVED_CLOCK: file,
    ...database,
  });
  const server = { url, adminToken: bootstrapToken };
  const made = await call(server, bootstrapToken, 'POST', '/v3/enterprise/organizations', { name: 'Out of time' });
  return {
    server: server as Parameters<typeof createAutomation>[0],
    organizationId: made.body.org_id as string,
    set,
    now: () => Date.now() + aheadMs,
  };
}

const stamp = (ms: number) => new Date(ms).toISOString().replaceAll(/[-:]|\.\d+/g, '');

it('a clock that jumps forward, back and forward again runs each occurrence once, and missed ones by policy', async () => {
  const { server, organizationId, set, now } = await startMovable();
  const path = `/v3/organizations/${organizationId}/automations`;
  const make = async (input: object): Promise<string> => {
    const { automation } = await createAutomation(server, { organizationId, ...input }, bootstrapToken, 'automationId');
    return automation.automationId;
  };
  const runsOf = async (id: string): Promise<{ status: string; scheduled_for: number; session_id: string | null }[]> =>
    (await call(server, bootstrapToken, 'GET', `${path}/${id}/runs`)).body.items.reverse();
  const waitForRuns = (id: string, count: number) =>
    vi.waitFor(async () => expect(await runsOf(id)).toHaveLength(count), { timeout: 60_000, interval: 50 });

  const first = Math.ceil(now() / 1_000) * 1_000 + 5_000;
  const triggers = [recurring(`DTSTART:${stamp(first)}\nRRULE:FREQ=HOURLY;INTERVAL=6`)];
  const latest = await make({ name: 'latest', triggers });
  const skip = await make({ name: 'skip', triggers, missedRuns: 'SKIP' });
  const all = await make({ name: 'all', triggers, missedRuns: 'ALL' });
  /** The runs of each automation: hours after the first occurrence, with "s" for a skipped one. */
  const readRuns = async () => {
    const runsSince = async (id: string) =>
      (await runsOf(id)).map(
        (run) => `${(run.scheduled_for * 1_000 - first) / hourMs}${run.status === 'started' ? '' : run.status[0]}`,
      );
    return { latest: await runsSince(latest), skip: await runsSince(skip), all: await runsSince(all) };
  };
  /** Waits until the scheduler has handled everything that is due by the current clock. */
  const settle = async () => {
    const at = Math.ceil(now() / 1_000) * 1_000 + 1_000;
    await waitForRuns(
      await make({ name: 'marker', triggers: [recurring(`DTSTART:${stamp(at)}\nRRULE:FREQ=DAILY;COUNT=1`)] }),
      1,
    );
  };

  await waitForRuns(latest, 1);
  await settle();
  expect(await readRuns()).toEqual({ latest: ['0'], skip: ['0'], all: ['0'] });

  const day = { latest: ['0', '24'], skip: ['0', '24s'], all: ['0', '6', '12', '18', '24'] };
  set(24 * hourMs + 10 * minuteMs);
  await settle();
  await waitForRuns(all, 5);
  expect(await readRuns()).toEqual(day);

  set(0);
  await settle();
  expect(await readRuns()).toEqual(day);

  set(24 * hourMs + 10 * minuteMs);
  await settle();
  expect(await readRuns()).toEqual(day);

  // A run that is a minute late is not missed.
  set(30 * hourMs + minuteMs);
  await settle();
  await waitForRuns(all, 6);
  const later = { latest: [...day.latest, '30'], skip: [...day.skip, '30'], all: [...day.all, '30'] };
  expect(await readRuns()).toEqual(later);

  const sessions = (await Promise.all([latest, skip, all].map(runsOf))).flat().flatMap((run) => run.session_id ?? []);
  expect([sessions.length, new Set(sessions).size]).toEqual([11, 11]);
}, 240_000);
