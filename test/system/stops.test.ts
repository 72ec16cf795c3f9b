import { rm } from 'node:fs/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { createSession } from '../support/sessions.ts';
import { testDatabase } from '../support/test-store.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

// The embedded database has a single connection, which no other process can lock.
it.skipIf(testDatabase === 'pglite')('answers every accepted request before it stops', async () => {
  const ids = [await createSession(test), await createSession(test), await createSession(test)];
  const [one, two, three] = ids;
  const stopped = await test.another();
  const holder = new pg.Client({ connectionString: test.databaseUrl as string });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query('select 1 from session_head where session_id = any($1) for update', [ids]);
    const sent = [
      call(stopped, test.v1Key, 'POST', `/v1/sessions/${one}/message`, { message: 'one' }),
      call(stopped, test.v1Key, 'POST', `/v1/sessions/${two}/message/`, { message: 'two' }),
      graphql(
        stopped,
        test.adminToken,
        'mutation($input: SendMessageInput!) { sendMessage(input: $input) { message { body } } }',
        { input: { sessionId: three, body: 'three' } },
      ),
    ];
    const waiting = `select count(*)::int as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    await vi.waitFor(async () => expect(await test.app.services.store.query(waiting)).toEqual([{ count: 3 }]), 10_000);
    const stopping = stopped.app.stop();
    // Without the heartbeats it would have stopped long before.
    await holder.query('select pg_sleep(0.5)');
    await holder.query('commit');
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([200, 200, 200]);
    await stopping;
    await expect(fetch(`${stopped.url}/healthz`)).rejects.toThrow();
    const { rows } = await holder.query(
      `select body from log_entry where session_id = any($1) and message_type = 'user_message'`,
      [ids],
    );
    expect(rows.map(({ body }) => body).toSorted()).toEqual(['one', 'three', 'two']);
  } finally {
    await holder.end();
    await rm(stopped.dataDir, { recursive: true, force: true });
  }
});
