import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { graphql } from '../support/app.ts';
import { bootstrapToken, freePort, type ServerProcess, startServer } from '../support/server.ts';
import { firstOrganizationId } from '../support/sessions.ts';
import { createDatabase, testDatabase } from '../support/test-store.ts';

const count = 60;

async function mutate(server: ServerProcess, document: string, input: object): Promise<any> {
  const { data, errors } = await graphql(server, bootstrapToken, document, { input });
  const payload = Object.values(data ?? {})[0] as any;
  if (!payload || payload.userErrors.length > 0) throw new Error(JSON.stringify({ errors, payload }));
  return payload;
}

// PGlite always runs in one process.
describe.skipIf(testDatabase !== 'postgres')('events of sessions, read by processes that are killed', () => {
  it('start each matching automation exactly once', { timeout: 180_000 }, async () => {
    const root = mkdtempSync(join(tmpdir(), 'switchyard-events-'));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const url = await createDatabase();
    const database = new pg.Client(url);
    await database.connect();
    onTestFinished(() => database.end());
    const start = async (name: string, Roles: string) =>
      startServer({
        DATABASE_URL: url,
        SECRET_KEY: 'the same secret key in every process',
        LOG_LEVEL: 'warn',
        ROLES: Roles,
        DATA_DIR: join(root, name),
        PORT: String(await freePort()),
      });
    const api = await start('api', 'api');
    const organizationId = await firstOrganizationId(api, bootstrapToken);
    const actions = [{ startSession: { prompt: 'say after' } }];
    await mutate(
      api,
      'mutation($input: CreateAutomationInput!) { createAutomation(input: $input) { automation { id } userErrors { message } } }',
      { organizationId, name: 'After', triggers: [{ event: { eventType: 'session:terminated' } }], actions },
    );
    const endOne = async (n: number) => {
      const { session } = await mutate(
        api,
        'mutation($input: CreateSessionInput!) { createSession(input: $input) { session { sessionId } userErrors { message } } }',
        { organizationId, prompt: `say ${n}` },
      );
      const { sessionId } = session;
      await mutate(
        api,
        'mutation($input: TerminateSessionInput!) { terminateSession(input: $input) { session { status } userErrors { message } } }',
        { sessionId },
      );
    };
    const tally = async () => {
      const { rows } = await database.query(
        `select count(*)::int as runs, count(distinct trigger ->> 'sessionId')::int as "sourceSessions", count(distinct session_id)::int as sessions
           from automation_run where status = 'started'`,
      );
      return rows[0] as { runs: number; sourceSessions: number; sessions: number };
    };
    const readers = await Promise.all([start('one', 'scheduler'), start('two', 'scheduler')]);
    const ending = (async () => {
      for (let n = 0; n < count; n++) await endOne(n);
    })();
    for (const [n, reader] of readers.entries()) {
      await vi.waitFor(async () => expect((await tally()).runs).toBeGreaterThan(n * 15 + 3), {
        timeout: 60_000,
        interval: 5,
      });
      await reader.kill();
    }
    await ending;
    expect((await tally()).runs).toBeLessThan(count);
    await Promise.all([start('three', 'scheduler'), start('four', 'scheduler')]);
    await vi.waitFor(async () => expect((await tally()).runs).toBeGreaterThanOrEqual(count), {
      timeout: 60_000,
      interval: 100,
    });
    expect(await tally()).toEqual({ runs: count, sourceSessions: count, sessions: count });
    const { rows } = await database.query(`select count(*)::int as count from session where origin = 'automation'`);
    expect(rows[0]).toEqual({ count });
  });
});
