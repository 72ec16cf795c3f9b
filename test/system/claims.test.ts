import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import type { Context } from '../../src/domain/context.ts';
import { type ClaimedRun, claimRuns, renewLeases } from '../../src/domain/execution/runs/claims.ts';
import { asAdministrator } from '../rest/rest-app.ts';
import { startApp } from '../support/app.ts';
import { createSession } from '../support/sessions.ts';
import { testDatabase } from '../support/test-store.ts';

const leaseMs = 60_000;

const claimOne = async (context: Context): Promise<readonly ClaimedRun[]> => {
  const room = { slots: 1, memoryMb: 1_000, isEmpty: true, memoryOf: () => 1 };
  return (await claimRuns(context, { workerId: 'w', leaseMs, affinityMs: 0 }, room)).claimed;
};

// The embedded database has a single connection, which no other process can lock.
it.skipIf(testDatabase === 'pglite')('a claim skips a locked session, and delays no renewal', async () => {
  const test = await startApp();
  onTestFinished(() => test.close());
  const context = await asAdministrator(test);
  const claimed = await createSession(test);
  const runs = await claimOne(context);
  const locked = await createSession(test);
  const holder = new pg.Client({ connectionString: test.databaseUrl as string });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query('select 1 from session_head where session_id = $1 for update', [locked]);
    expect(await claimOne(context)).toEqual([]);
    expect(await renewLeases(context, 'w', leaseMs, runs)).toEqual(new Set([claimed]));
  } finally {
    await holder.end();
  }
  expect((await claimOne(context)).map(({ sessionId }) => sessionId)).toEqual([locked]);
});

it('a claim leaves the sessions of an agent that only other workers have', async () => {
  const test = await startApp();
  onTestFinished(() => test.close());
  const context = await asAdministrator(test);
  const id = await createSession(test);
  const agents = Object.create(context.agents, { elsewhereIds: { value: ['demo'] } });
  expect(await claimOne({ ...context, agents })).toEqual([]);
  expect((await claimOne(context)).map(({ sessionId }) => sessionId)).toEqual([id]);
});
