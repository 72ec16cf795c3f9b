import { expect, it } from 'vitest';
import { useApp } from '../support/use-app.ts';
import { call, makeOrganization, makeUser } from './rest-app.ts';

const test = useApp({ rateLimitRest: 100_000 });

const pathOf = (organizationId: string) => `/v3/organizations/org-${organizationId}/sessions`;

async function makeSessions(organizationId: string, count: number): Promise<string[]> {
  const started = Array.from({ length: count }, () =>
    call(test, test.adminToken, 'POST', pathOf(organizationId), { prompt: 'say hello' }),
  );
  return (await Promise.all(started)).map(({ body }) => body.session_id as string);
}

const query = (sql: string, ...values: unknown[]) => test.app.services.store.query<any>(sql, values);

const send = (organizationId: string, id: string, message: string, token: string = test.adminToken) =>
  call(test, token, 'POST', `${pathOf(organizationId)}/${id}/messages`, { message });

it('stores each of many concurrent messages once, in order, and only where permitted', async () => {
  const [here, elsewhere] = [test.organizationId, await makeOrganization(test)];
  const awake = await makeSessions(here, 8);
  const [asleep, archived, terminated] = (await makeSessions(here, 3)) as [string, string, string];
  const [foreign] = (await makeSessions(elsewhere, 1)) as [string];
  await test.app.services.store.execute(`update session set status = 'suspended' where id = $1`, [asleep]);
  await call(test, test.adminToken, 'DELETE', `${pathOf(here)}/${archived}?archive=true`);
  await call(test, test.adminToken, 'DELETE', `${pathOf(here)}/${terminated}`);
  const member = await makeUser(test, here);
  const own = (await call(test, member.v3Token, 'POST', pathOf(here), { prompt: 'say hello' })).body.session_id;

  const requests: [id: string, token: string, status: number][] = [];
  for (let round = 0; round < 12; round += 1) {
    for (const id of awake) requests.push([id, test.adminToken, 200]);
    requests.push([asleep, test.adminToken, 200], [archived, test.adminToken, 409], [terminated, test.adminToken, 409]);
    requests.push([foreign, test.adminToken, 404], ['0'.repeat(32), test.adminToken, 404]);
    requests.push(
      [own, member.v3Token, 200],
      [own, test.adminToken, 200],
      [awake[0] as string, member.v3Token, 403],
      [foreign, member.v3Token, 403],
    );
  }
  const answers = await Promise.all(requests.map(([id, token], n) => send(here, id, `message ${n}`, token)));
  expect(answers.map(({ status }) => status)).toEqual(requests.map(([, , status]) => status));
  for (const [n, { status, body }] of answers.entries())
    if (status === 200) expect(body.session_id).toBe(requests[n]?.[0]);

  const ids = [...awake, asleep, archived, terminated, foreign, own];
  const entries = await query(
    `select session_id, seq, body, user_id, service_user_id, id from log_entry
      where session_id = any($1) and message_type = 'user_message' order by session_id, seq`,
    ids,
  );
  const expected = requests.flatMap(([id, , status], n) => (status === 200 ? [`${id} message ${n}`] : []));
  expect(entries.map((each) => `${each.session_id} ${each.body}`).toSorted()).toEqual(expected.toSorted());
  // Two users write to the same session at the same time, each as themselves.
  for (const { body, user_id: userId } of entries.filter(({ session_id: id }) => id === own)) {
    const [, token] = requests[Number(body.replace('message ', ''))] ?? [];
    expect(userId === member.userId).toBe(token === member.v3Token);
  }
  const heads = await query(
    `select h.next_seq - 1 as last, max(e.seq) as seq, count(*)::int as count, count(distinct e.seq)::int as "distinctSeqs"
       from session_head h join log_entry e using (session_id) where h.session_id = any($1) group by h.session_id`,
    ids,
  );
  for (const { last, seq, count, distinctSeqs } of heads) expect([last, count]).toEqual([seq, distinctSeqs]);
  const audited = await query(
    `select target_id, session_id, organization_id from audit_entry where action = 'send_message' and session_id = any($1)`,
    ids,
  );
  expect(audited.map(({ target_id: id }) => id).toSorted()).toEqual(entries.map(({ id }) => id).toSorted());
  expect(new Set(audited.map((each) => each.organization_id))).toEqual(new Set([here]));
  const queued = await query('select session_id from run where queued_at is not null and session_id = any($1)', ids);
  expect(queued.map((each) => each.session_id)).toEqual(expect.arrayContaining([...awake, own]));
});

it('numbers messages to one session without gaps', async () => {
  const [id] = (await makeSessions(test.organizationId, 1)) as [string];
  const texts = Array.from({ length: 100 }, (_, n) => `message ${n}`);
  const sent = await Promise.all(texts.map((text) => send(test.organizationId, id, text)));
  expect(sent.every(({ status }) => status === 200)).toBe(true);
  const entries = await query('select seq, body from log_entry where session_id = $1 order by seq', id);
  const seqs = entries.map(({ seq }) => seq);
  expect(seqs).toEqual(seqs.map((_, n) => seqs[0] + n));
  expect(
    entries
      .slice(-100)
      .map(({ body }) => body)
      .toSorted(),
  ).toEqual(texts.toSorted());
});

it('a lock on one session delays no message to another', async ({ skip }) => {
  const { store } = test.app.services;
  if (store.dialect === 'pglite') skip('The embedded database has one connection.');
  const [lockedId, ...others] = (await makeSessions(test.organizationId, 6)) as [string, ...string[]];
  for (const table of ['session where id', 'run where session_id', 'session_head where session_id']) {
    const late = { landed: false };
    const waiting = await store.transact(async (tx) => {
      await tx.query(`select 1 from ${table} = $1 for update`, [lockedId]);
      // More of them than the process has connections.
      const sent = Array.from({ length: 30 }, () =>
        send(test.organizationId, lockedId, 'held').finally(() => {
          late.landed = true;
        }),
      );
      const answers = await Promise.all(others.map((id) => send(test.organizationId, id, 'free')));
      expect(answers.map(({ status }) => status)).toEqual(others.map(() => 200));
      expect(late.landed).toBe(false);
      return { sent };
    });
    const answers = await Promise.all(waiting.sent);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  }
  const [{ count }] = await query(
    `select count(*)::int as count from log_entry where session_id = $1 and body = 'held'`,
    lockedId,
  );
  expect(count).toBe(90);
});
