import { expect, it } from 'vitest';
import { openStream } from '../support/event-stream.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const messages = 'subscription($id: ID!) { sessionMessages(sessionId: $id) { node { body } } }';

it('reads entries and their access in one statement for sockets and streams of all viewers', async () => {
  const { token, organizationId } = await makeOrganization(test, 'Many');
  const id = await createSession(test, { organizationId }, token);
  const client = connect(test.url, token);
  const sockets = Array.from({ length: 40 }, () => follow(client, messages, { id }));
  const streams = await Promise.all(
    Array.from({ length: 10 }, () => openStream(test.url, test.adminToken, messages, { id })),
  );
  await Promise.all([...sockets, ...streams].map((each) => each.take(1)));

  const { store } = test.app.services;
  const { query } = store;
  const queryCounts = { reads: 0, checkedReads: 0, others: 0 };
  store.query = (sql: string, values?: readonly unknown[]) => {
    if (/from log_entry e/.test(sql)) {
      queryCounts.reads += 1;
      // The entries' query also reads the session's organization, which decides who may read the session.
      if (/join organization o on .*deleted_at is null/.test(sql)) queryCounts.checkedReads += 1;
    } else if (/from session s join organization/.test(sql)) queryCounts.others += 1;
    return query.call(store, sql, values) as never;
  };
  await say(test, id, 'to all');
  const received = await Promise.all([...sockets, ...streams].map((each) => each.take(1)));
  store.query = query;
  expect(received.flat().map(({ data }) => data.sessionMessages.node.body)).toEqual(Array(50).fill('to all'));
  // One read for each entry; subscribers that were still busy with the previous entry may read entries again.
  expect(queryCounts.reads).toBeGreaterThanOrEqual(1);
  expect(queryCounts.reads).toBeLessThanOrEqual(4);
  expect(queryCounts).toMatchObject({ checkedReads: queryCounts.reads, others: 0 });
});
