import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, it, vi } from 'vitest';
import { type Query, seedDueAutomations, tally } from '../support/due-automations.ts';
import { freePort, startServer } from '../support/server.ts';
import { createDatabase, testDatabase } from '../support/test-store.ts';

const count = 400;

// PGlite always runs in one process. bench/automations.ts does the same with 10,000.
describe.skipIf(testDatabase !== 'postgres')('automations of three processes, two of which are killed', () => {
  it('each run exactly once', { timeout: 180_000 }, async () => {
    const root = mkdtempSync(join(tmpdir(), 'switchyard-due-'));
    const url = await createDatabase();
    const database = new pg.Client(url);
    await database.connect();
    const query: Query = async (sql, values) => (await database.query(sql, [...values])).rows;
    const start = async (name: string) =>
      startServer({
        DATABASE_URL: url,
        SECRET_KEY: 'the same secret key in every process',
        LOG_LEVEL: 'warn',
        ROLES: 'scheduler',
        DATA_DIR: join(root, name),
        PORT: String(await freePort()),
      });
    try {
      const servers = [await start('one'), ...(await Promise.all([start('two'), start('three')]))];
      const [organization] = await query('select id from organization', []);
      const organizationId = (organization as { id: string }).id;
      // Due from now on, without a notification: the schedulers find them by polling.
      await seedDueAutomations(query, { organizationId, count, from: new Date(), spreadSeconds: 1 });
      const victims = servers.toSorted(() => Math.random() - 0.5).slice(0, 2);
      for (const [n, victim] of victims.entries()) {
        // In the middle: some automations have run, most have not.
        await vi.waitFor(async () => expect((await tally(query)).runs).toBeGreaterThan(n * 60), {
          timeout: 60_000,
          interval: 5,
        });
        await delay(Math.random() * 20);
        await victim.kill();
      }
      const before = await tally(query);
      expect(before.runs).toBeLessThan(count);
      await vi.waitFor(async () => expect((await tally(query)).runs).toBeGreaterThanOrEqual(count), {
        timeout: 90_000,
        interval: 100,
      });
      expect(await tally(query)).toMatchObject({ runs: count, sessions: count, once: count });
    } finally {
      await database.end();
      rmSync(root, { recursive: true, force: true });
    }
  });
});
