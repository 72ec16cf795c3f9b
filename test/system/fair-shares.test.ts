import { expect, it, onTestFinished } from 'vitest';
import type { Context } from '../../src/domain/context.ts';
import { type Claimant, claimRuns } from '../../src/domain/execution/runs/claims.ts';
import { asAdministrator } from '../rest/rest-app.ts';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { runMutation } from '../support/people.ts';
import { seedQueue } from '../support/queue.ts';
import { rowsRead } from '../support/rows-read.ts';
import { readMessages, waitForSession, waitUntilEnded, waitUntilWaiting } from '../support/session-waits.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';

const hourAgo = new Date(Date.now() - 3_600_000);
const start = async (overrides: Parameters<typeof startApp>[0] = {}) => {
  const test = await startApp(overrides);
  onTestFinished(() => test.close());
  return { test, context: await asAdministrator(test) };
};
const claim = async (context: Context, slots: number, claimant: Partial<Claimant> = {}): Promise<string[]> => {
  const room = { slots, memoryMb: 1_000_000, isEmpty: true, memoryOf: () => 1 };
  const wanted = { workerId: 'w', leaseMs: 600_000, affinityMs: 0, ...claimant };
  return (await claimRuns(context, wanted, room)).claimed.map(({ sessionId }) => sessionId);
};
/** Creates a session outside of every queue, as the template of copies. */
const template = async (test: TestApp) => {
  const id = await createSession(test);
  await test.app.services.store.execute('update run set queued_at = null where session_id = $1', [id]);
  return id;
};
const setLimit = async (test: TestApp, organizationId: string, maxConcurrentSessions: number | null) => {
  const document = `mutation($input: UpdateOrganizationInput!) { updateOrganization(input: $input) {
    organization { maxConcurrentSessions } userErrors { code path } } }`;
  const { data } = await graphql(test, test.adminToken, document, { input: { organizationId, maxConcurrentSessions } });
  return data.updateOrganization;
};
const reasonOf = async (test: TestApp, id: string) =>
  (await graphql(test, test.adminToken, 'query($id: ID!) { session(id: $id) { queueReason } }', { id })).data.session
    .queueReason;
const queueOf = async (test: TestApp) =>
  (await graphql(test, test.adminToken, '{ enterprise { queue { size limitedSize } } }')).data.enterprise.queue;

it('claims a new session next before ten thousand of another organization, and reads few of their rows', async () => {
  const { test, context } = await start();
  const of = await template(test);
  const { store } = context;
  const copies = { of, organizationId: test.organizationId, principalId: 'u', count: 10_000, prefix: 'crowd' };
  await seedQueue(store, { ...copies, queuedAt: hourAgo });
  await store.execute('analyze run');
  expect(await claim(context, 4)).toEqual(['crowd1', 'crowd2', 'crowd3', 'crowd4']);
  const other = await makeOrganization(test, 'Other');
  const fresh = await createSession(test, {}, other.token);
  const { read, answer } = await rowsRead(test, () => claim(context, 1));
  expect(answer).toEqual([fresh]);
  expect(read.run).toBeLessThan(100);
  expect(read.session ?? 0).toBeLessThan(100);
  // The other organization's queue is empty, so the crowd gets the free slots.
  expect(await claim(context, 2)).toEqual(['crowd5', 'crowd6']);
});

it('chooses the organization, then the user, with the fewest running sessions, then the oldest session', async () => {
  const { test, context } = await start();
  const of = await template(test);
  // A fixed sequence that looks random.
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  const waiting: { id: string; organizationId: string; principalId: string; at: number }[] = [];
  for (let o = 0; o < 3; o++) {
    const { organizationId } = await makeOrganization(test, `Organization ${o}`);
    const bare = organizationId.replace('org-', '');
    for (let u = 0; u < 3; u++) {
      const [prefix, count, at] = [`s-${o}-${u}-`, 1 + random(9), hourAgo.getTime() + random(30) * 1_000];
      const copies = { of, organizationId: bare, principalId: `u${u}`, count, prefix, queuedAt: new Date(at) };
      await seedQueue(context.store, copies);
      for (let n = 1; n <= count; n++)
        waiting.push({ id: `${prefix}${n}`, organizationId: bare, principalId: `u${u}`, at: at + n });
    }
  }
  const running: typeof waiting = [];
  const expected: string[] = [];
  const countOf = (of: (each: (typeof waiting)[number]) => boolean) => running.filter(of).length;
  while (waiting.length > 0) {
    const rank = ({ organizationId, principalId, at }: (typeof waiting)[number]) => [
      countOf((each) => each.organizationId === organizationId),
      countOf((each) => each.organizationId === organizationId && each.principalId === principalId),
      at,
    ];
    // The best session of each organization, then the best of these organizations.
    const heads = [...new Set(waiting.map(({ organizationId }) => organizationId))].map(
      (organizationId) =>
        waiting
          .filter((each) => each.organizationId === organizationId)
          .sort((a, b) => compare(rank(a).slice(1), rank(b).slice(1)))[0] as (typeof waiting)[number],
    );
    const next = heads.sort((a, b) =>
      compare([rank(a)[0] as number, a.at], [rank(b)[0] as number, b.at]),
    )[0] as (typeof waiting)[number];
    waiting.splice(waiting.indexOf(next), 1);
    running.push(next);
    expected.push(next.id);
  }
  const claimed: string[] = [];
  while (claimed.length < expected.length) {
    // Two workers, with free slots for one or several sessions.
    const some = await claim(context, 1 + random(6), { workerId: `w${random(2)}` });
    expect(some).not.toEqual([]);
    claimed.push(...some);
  }
  expect(claimed).toEqual(expected);
});

const compare = (a: readonly number[], b: readonly number[]) => {
  const at = a.findIndex((value, n) => value !== b[n]);
  return at < 0 ? 0 : (a[at] as number) - (b[at] as number);
};

it('reaches every user, even with more than one read of the queue returns', async () => {
  const { test, context } = await start();
  const of = await template(test);
  for (let u = 0; u < 300; u++) {
    const copies = { of, organizationId: test.organizationId, principalId: `user-${u}`, count: 1 };
    await seedQueue(context.store, { ...copies, prefix: `s-${u}-`, queuedAt: hourAgo });
  }
  const cursor = { after: null };
  const claimed = new Set<string>();
  for (let n = 0; n < 60 && claimed.size < 300; n++)
    for (const id of await claim(context, 8, { cursor })) {
      expect(claimed).not.toContain(id);
      claimed.add(id);
    }
  expect(claimed.size).toBe(300);
});

it('never claims more than the limits of an organization and a user, over all workers', async () => {
  const { test, context } = await start({ concurrencyLimits: { perOrganization: 5, perUser: 2 } });
  const of = await template(test);
  for (const principalId of ['u1', 'u2', 'u3'])
    await seedQueue(context.store, {
      ...{ of, organizationId: test.organizationId, principalId, count: 20, prefix: `${principalId}-` },
      queuedAt: hourAgo,
    });
  const all = await Promise.all(Array.from({ length: 6 }, (_, n) => claim(context, 8, { workerId: `w${n}` })));
  const claimed = all.flat();
  expect(claimed).toHaveLength(5);
  for (const user of ['u1', 'u2', 'u3'])
    expect(claimed.filter((id) => id.startsWith(user)).length).toBeLessThanOrEqual(2);
  expect(await queueOf(test)).toEqual({ size: 60, limitedSize: 55 });

  // An organization's own limit takes precedence over the service's.
  expect(await setLimit(test, test.organizationId, 6)).toMatchObject({ organization: { maxConcurrentSessions: 6 } });
  expect(await claim(context, 8)).toHaveLength(1);
  expect(await setLimit(test, test.organizationId, 0)).toMatchObject({ organization: { maxConcurrentSessions: 0 } });
  expect(await claim(context, 8)).toEqual([]);
  // A session without work frees its share, although its agent stays warm.
  await context.store.execute(
    `update run set queued_at = null where session_id = (select session_id from run where session_id like 'u1-%'
        and home_worker_id is not null order by session_id limit 1)`,
    [],
  );
  expect(await claim(context, 8)).toEqual([expect.stringMatching(/^u1-/)]);
  expect(await setLimit(test, test.organizationId, -1)).toMatchObject({
    userErrors: [{ code: 'INVALID_INPUT', path: ['input', 'maxConcurrentSessions'] }],
  });
  const [entry] = await context.store.query<{ data: object }>(
    `select data from audit_entry where action = 'update_org' order by created_at limit 1`,
  );
  expect(entry?.data).toEqual({ maxConcurrentSessions: 6, maxConcurrentSessionsBefore: null });
});

it('keeps sessions queued until others of their organization end, and gives the reason', async () => {
  const { test } = await start({ roles: ['api', 'worker'], maxConcurrentSessions: 3 });
  await setLimit(test, test.organizationId, 1);
  const send = (id: string, message: string) =>
    call(test, test.v1Key, 'POST', `/v1/sessions/${id}/message`, { message });
  const first = await createSession(test, { prompt: 'ask Go on?' });
  await waitUntilWaiting(test, first);
  const second = await createSession(test, { prompt: 'ask And you?' });
  expect(await reasonOf(test, first)).toBeNull();
  expect(await reasonOf(test, second)).toBe('ORGANIZATION_LIMIT');
  expect(await queueOf(test)).toEqual({ size: 1, limitedSize: 1 });
  await send(first, 'yes');
  await waitUntilWaiting(test, second);
  expect(await reasonOf(test, second)).toBeNull();

  // A message to a session whose agent is warm starts no turn beyond the limit.
  await send(first, 'say more');
  await expect.poll(() => reasonOf(test, first)).toBe('ORGANIZATION_LIMIT');
  await send(second, 'yes');
  await waitUntilEnded(test, second);
  await waitForSession(test, first, ({ status }) => status === 'EXIT');
  expect((await readMessages(test, first)).at(-1)).toBe('AGENT_MESSAGE: more');
});

it('claims a session of an older version, which has no queue of users', async () => {
  const { test, context } = await start();
  const id = await createSession(test);
  const { store } = context;
  const [run] = await store.execute<{ queuedAt: Date }>(
    'delete from run where session_id = $1 returning queued_at as "queuedAt"',
    [id],
  );
  // The insert of that version.
  await store.execute(
    `insert into run (session_id, queued_at, generation, delivered_seq, answered_seqs, turn_after_seq, turn_count, is_turn_open,
            agent_cost_usd, crash_count) values ($1, $2, 0, 0, '{}', 0, 0, false, 0, 0) returning session_id`,
    [id, run?.queuedAt],
  );
  expect(await claim(context, 1)).toEqual([id]);
});

it('counts a stopped session to which its user has written among those that wait for a worker', async () => {
  const { test, context } = await start({ roles: ['api'] });
  const id = await createSession(test);
  const stop = async (sql: string) => context.store.execute(sql, [id.replace('devin-', '')]);
  await stop(`update session set status = 'running', status_detail = 'waiting_for_user' where id = $1`);
  await stop('update run set queued_at = null where session_id = $1');
  const position = async () =>
    (await graphql(test, test.adminToken, 'query($id: ID!) { session(id: $id) { queuePosition queueReason } }', { id }))
      .data.session;
  expect(await position()).toEqual({ queuePosition: null, queueReason: null });
  await runMutation(test, 'sendMessage', 'message { id }', { sessionId: id, body: 'Go on' });
  expect(await position()).toEqual({ queuePosition: 1, queueReason: 'NO_WORKER' });
});
