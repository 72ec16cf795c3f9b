import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, it, onTestFinished, vi } from 'vitest';
import { call } from '../support/app.ts';
import { bootstrapToken, freePort, startServer } from '../support/server.ts';
import { createFirstSession, firstOrganizationId } from '../support/sessions.ts';
import { createDatabase, testDatabase } from '../support/test-store.ts';

/** Entries of the log of one session: their deletion takes longer than the kill. */
const entries = 60_000;

// PGlite always runs in one process.
it.skipIf(testDatabase !== 'postgres')('sessions are deleted completely by processes that are killed', async () => {
  const root = mkdtempSync(join(tmpdir(), 'switchyard-retention-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const url = await createDatabase();
  const database = new pg.Client(url);
  await database.connect();
  onTestFinished(() => database.end());
  const start = async (name: string, roles: string, more: Record<string, string> = {}) =>
    startServer({
      DATABASE_URL: url,
      SECRET_KEY: 'the same secret key in every process',
      LOG_LEVEL: 'warn',
      ROLES: roles,
      DATA_DIR: join(root, name),
      PORT: String(await freePort()),
      ...more,
    });
  const api = await start('api', 'api');
  const organizationId = await firstOrganizationId(api, bootstrapToken);
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) {
    const id = await createFirstSession(api, bootstrapToken, `say ${n}`);
    const path = `/v3/organizations/${organizationId}/sessions/${id}`;
    expect((await call(api, bootstrapToken, 'DELETE', path)).status).toBe(200);
    ids.push(id.replace('devin-', ''));
  }
  await database.query(
    `insert into log_entry (session_id, seq, id, kind, message_type, body, created_at)
     select $1, 1000 + n, md5(n::text), 'MESSAGE', 'agent_message', 'line ' || n, now() from generate_series(1, $2::int) n`,
    [ids[0], entries],
  );
  await database.query(
    `update session set updated_at = updated_at - interval '2 days', created_at = created_at - interval '2 days'`,
  );
  await database.query(`update log_entry set created_at = created_at - interval '2 days'`);
  const count = async (sql: string) => Number((await database.query(`select count(*) as n from ${sql}`)).rows[0].n);

  const retention = { SESSION_RETENTION_DAYS: '1' };
  const first = await start('one', 'scheduler', retention);
  await vi.waitUntil(async () => (await count('deleted_session')) > 0, { timeout: 60_000, interval: 5 });
  await first.kill();

  const both = await Promise.all([start('two', 'scheduler', retention), start('three', 'scheduler', retention)]);
  await vi.waitUntil(async () => (await count('deleted_session where cleared_at is not null')) === 5, {
    timeout: 60_000,
    interval: 20,
  });
  for (const server of both) await server.stop();
  expect([await count('session'), await count('log_entry'), await count('session_text'), await count('run')]).toEqual([
    0, 0, 0, 0,
  ]);
  expect(await count(`audit_entry where action = 'delete_session'`)).toBe(5);
});
