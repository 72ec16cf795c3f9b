import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { runMutation } from '../support/people.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
import { testDatabase } from '../support/test-store.ts';

let test: TestApp;
let other: TestApp;
beforeAll(async () => {
  test = await startApp();
  // The embedded database has one process, and one connection.
  other = testDatabase === 'postgres' ? await test.another() : test;
});
afterAll(async () => {
  if (other !== test) await other.close();
  await test.close();
});

const query = `subscription($id: ID, $after: String) {
  sessionChanges(organizationId: $id, after: $after) { type cursor sessionId } }`;
const change = (payload: any) => payload.data.sessionChanges;

it.runIf(testDatabase === 'postgres')(
  'repeats no change that was reported before an older transaction committed, after a reconnection',
  async () => {
    const { organizationId, token } = await makeOrganization(test, 'Ahead');
    const [late, soon] = [await createSession(test, {}, token), await createSession(test, {}, token)];
    const following = follow(connect(test.url, token), query, { id: organizationId });
    while (test.app.watches.active() === 0) await new Promise((resolve) => setImmediate(resolve));
    let after = '';
    await test.app.services.store.transact(async (tx) => {
      await tx.query('update session set title = $2 where id = $1', [late, 'late']);
      // Outside of the transaction.
      await new Promise<void>((resolve, reject) => {
        const input = { sessionId: `devin-${soon}`, tags: ['soon'] };
        setImmediate(() => runMutation(test, 'addSessionTags', 'session { id }', input).then(() => resolve(), reject));
      });
      const ahead = change((await following.take(1))[0]);
      expect(ahead.sessionId).toBe(`devin-${soon}`);
      after = ahead.cursor;
    });
    const third = await createSession(test, {}, token);
    for (const { url } of [test, other]) {
      const resumed = follow(connect(url, token), query, { id: organizationId, after });
      const ids = (await resumed.take(2)).map((payload) => change(payload).sessionId);
      expect(ids).toEqual([late, third].map((id) => `devin-${id}`));
      resumed.stop();
    }
    following.stop();
  },
);

it('refuses a cursor with impossible changes', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Forged');
  const forged = (seen: string) => Buffer.from(`sessionChanges|5||${seen}`).toString('base64url');
  const tooMany = Array.from({ length: 9 }, (_, n) => `a${n} 1`).join(',');
  for (const seen of ['', 'a', `a ${'9'.repeat(19)}`, 'a 1|', tooMany]) {
    const errors = await follow(connect(test.url, token), query, { id: organizationId, after: forged(seen) }).errors();
    expect(errors, seen).toMatchObject([{ extensions: { code: 'BAD_CURSOR' } }]);
  }
});
