import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ensureFeed } from '../../src/domain/feeds/feeds.ts';
import { type FeedProcessor, readFeed } from '../../src/domain/feeds/read-feed.ts';
import { newId, parseId } from '../../src/domain/ids.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

it.skipIf(process.env.TEST_DATABASE !== 'postgres')(
  'a feed skips no change that commits later at an earlier position',
  async () => {
    const { services } = test.app;
    const made = await makeOrganization(test, 'Late');
    const organizationId = parseId('organization', made.organizationId) as string;
    const original = await createSession(test, {}, made.token);
    const read: string[] = [];
    const processor: FeedProcessor = {
      feedTable: 'webhook_feed',
      progressTable: 'webhook_progress',
      isWanted: 'true',
      kinds: ['MESSAGE'],
      loadHandler: async () => ({
        sinceAt: new Date(0),
        async handle(entries) {
          read.push(...entries.map(({ sessionId }) => sessionId));
          return entries.length;
        },
      }),
    };
    await services.store.transact((tx) => ensureFeed(tx, processor, organizationId));

    const late = newId();
    const client = new pg.Client({ connectionString: test.databaseUrl as string });
    await client.connect();
    try {
      await client.query('begin');
      for (const [table, key, names] of [
        ['session', 'r.id', { id: late }],
        ['log_entry', `r.kind = 'MESSAGE' and r.session_id`, { id: newId(), session_id: late }],
      ] as const) {
        await client.query(
          `insert into ${table} select (json_populate_record(r, $2::json)).* from ${table} r where ${key} = $1`,
          [original, JSON.stringify(names)],
        );
      }
      await client.query('update session set changed_xid = current_transaction() where id = $1', [late]);
      // More than one read returns.
      const others = await Promise.all(Array.from({ length: 60 }, () => createSession(test, {}, made.token)));
      let cursor = await readFeed(services, processor, organizationId, null);
      expect(cursor).not.toBeNull();
      await client.query('commit');
      while (cursor !== null) cursor = await readFeed(services, processor, organizationId, cursor);
      // The state after the notification of the commit.
      do cursor = await readFeed(services, processor, organizationId, cursor);
      while (cursor !== null);
      expect(read.filter((id) => id !== original).toSorted()).toEqual([...others, late].toSorted());
    } finally {
      await client.end();
    }
  },
);
