import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { readMessages, waitUntilEnded } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
import { testDatabase } from '../support/test-store.ts';

const messagesQuery =
  'subscription($id: ID!, $after: String) { sessionMessages(sessionId: $id, after: $after) { cursor node { body } } }';

// PGlite always runs in one process.
describe.skipIf(testDatabase === 'pglite')('two processes on one PostgreSQL', () => {
  let first: TestApp;
  let second: TestApp;
  beforeAll(async () => {
    first = await startApp({ roles: ['api'] });
    second = await first.another({ roles: ['api', 'worker'] });
  });
  afterAll(async () => {
    await second.close();
    await first.close();
  });

  it('deliver a message that one of them wrote to a subscriber of the other at once', async () => {
    const id = await createSession(first, { prompt: 'ask How many?' });
    const following = follow(connect(second.url, first.adminToken), messagesQuery, { id });
    const bodies = async (count: number) =>
      (await following.take(count)).map((payload) => payload.data.sessionMessages.node.body);
    expect(await bodies(2)).toEqual(['ask How many?', 'How many?']);
    const startedAt = performance.now();
    const response = await fetch(`${first.url}/v1/sessions/${id}/message`, {
      method: 'POST',
      headers: { authorization: `Bearer ${first.v1Key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ message: 'three' }),
    });
    expect(response.status).toBe(200);
    expect(await bodies(2)).toEqual(['three', 'You answered: three']);
    // Well under the catch-up's interval, so the notification delivered it.
    expect(performance.now() - startedAt).toBeLessThan(2_500);
    await waitUntilEnded(first, id);
  });

  it('let a subscription resume on the other process from its cursor', async () => {
    const id = await createSession(first, {
      prompt: Array.from({ length: 20 }, (_, n) => `say ${n}\nsleep 0.02`).join('\n'),
    });
    const received: string[] = [];
    let after: string | undefined;
    for (let n = 0; n < 21; n++) {
      const client = connect((n % 2 === 0 ? first : second).url, first.adminToken);
      const [payload] = await follow(client, messagesQuery, { id, after }).take(1);
      received.push(payload.data.sessionMessages.node.body);
      after = payload.data.sessionMessages.cursor;
      client.terminate();
    }
    await waitUntilEnded(first, id);
    expect(received.slice(1)).toEqual(Array.from({ length: 20 }, (_, n) => String(n)));
    expect(await readMessages(second, id)).toHaveLength(21);
  });

  it('run each session in one worker only', async () => {
    const third = await first.another({ roles: ['worker'] });
    try {
      const ids = await Promise.all(
        Array.from({ length: 12 }, (_, n) => createSession(first, { prompt: `say only ${n}` })),
      );
      await Promise.all(ids.map((id) => waitUntilEnded(first, id)));
      for (const [n, id] of ids.entries())
        expect((await readMessages(first, id)).slice(1)).toEqual([`AGENT_MESSAGE: only ${n}`]);
      const generations = await first.app.services.store.query<{ generation: number }>(
        'select generation from run where session_id = any($1)',
        [ids],
      );
      expect(generations.map(({ generation }) => generation)).toEqual(ids.map(() => 1));
    } finally {
      await third.close();
    }
  });
});
