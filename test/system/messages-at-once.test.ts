import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { call, startApp, type TestApp } from '../support/app.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';

let test: TestApp;
let token: string;
let sessions: string;
beforeAll(async () => {
  test = await startApp();
  const made = await makeOrganization(test, 'Talkative');
  token = made.token;
  sessions = `/v3/organizations/org-${made.organizationId}/sessions`;
});
afterAll(() => test.close());

const send = (id: string, message: string, headers: Record<string, string> = {}) =>
  call(test, token, 'POST', `${sessions}/${id}/messages`, { message }, headers);

const ends = {
  archived: (id: string) => call(test, token, 'POST', `${sessions}/${id}/archive`),
  terminated: (id: string) => call(test, token, 'DELETE', `${sessions}/${id}`),
};

interface Entry {
  readonly seq: number;
  readonly id: string;
  readonly kind: string;
  readonly body: string | null;
  readonly data: { readonly status: string; readonly isArchived: boolean } | null;
}

const logOf = (id: string) =>
  test.app.services.store.query<Entry>(
    'select seq, id, kind, body, data from log_entry where session_id = $1 order by seq',
    [id],
  );

const auditedOf = async (id: string) => {
  const rows = await test.app.services.store.query<{ targetId: string }>(
    `select target_id as "targetId" from audit_entry where session_id = $1 and action = 'send_message'`,
    [id],
  );
  return rows.map(({ targetId }) => targetId).toSorted();
};

it.each(Object.keys(ends) as (keyof typeof ends)[])(
  'numbers concurrent messages without gaps, audits each, and accepts none once the session is %s',
  async (end) => {
    const id = await createSession(test, {}, token);
    const accepted: string[] = [];
    let ending: Promise<unknown> | null = null;
    const sender = async (n: number) => {
      for (let m = 0; m < 30; m++) {
        const message = `message ${m} of ${n}`;
        const { status } = await send(id, message);
        expect([200, 409]).toContain(status);
        if (status === 409) return;
        accepted.push(message);
        if (accepted.length === 40) ending = ends[end](id);
      }
    };
    await Promise.all(Array.from({ length: 16 }, (_, n) => sender(n)));
    expect(await ending).toMatchObject({ status: 200 });
    expect((await send(id, 'too late')).status).toBe(409);

    const log = await logOf(id);
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, n) => n + 1));
    const messages = log.filter(({ kind }) => kind === 'MESSAGE').slice(1);
    expect(messages.map(({ body }) => body).toSorted()).toEqual(accepted.toSorted());
    expect(await auditedOf(id)).toEqual(messages.map((message) => message.id).toSorted());
    const over = log.find(({ data }) => data?.isArchived === true || data?.status === 'exit');
    expect(over?.seq).toBeGreaterThan(messages.at(-1)?.seq ?? Number.POSITIVE_INFINITY);
  },
);

it('writes the same for a retried message, which uses another code path', async () => {
  const [plain, repeatable] = [await createSession(test, {}, token), await createSession(test, {}, token)];
  const answers = [await send(plain, 'Go on.'), await send(repeatable, 'Go on.', { 'idempotency-key': 'one' })];
  const written = async (id: string) => {
    const { store } = test.app.services;
    const [entry] = await store.query<object>(
      `select * from log_entry where session_id = $1 and seq > 1 order by seq`,
      [id],
    );
    const [audit] = await store.query<object>(
      `select * from audit_entry where session_id = $1 and action = 'send_message'`,
      [id],
    );
    const [run] = await store.query<object>('select * from run where session_id = $1', [id]);
    const [session] = await store.query<object>('select * from session where id = $1', [id]);
    return { entry, audit, run, session, rest: (await logOf(id)).length };
  };
  const own = ['id', 'xid', 'session_id', 'target_id', 'created_at', 'updated_at', 'changed_xid', 'queued_at', 'url'];
  const comparable = (value: unknown) =>
    JSON.stringify(value, (key, inner) => (own.includes(key) ? typeof inner : inner), 1);
  const [one, other] = [await written(plain), await written(repeatable)];
  expect(comparable(one)).toBe(comparable(other));
  expect(comparable(answers.map(({ body }) => body)[0])).toBe(comparable(answers.map(({ body }) => body)[1]));
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
});

it.skipIf(process.env.TEST_DATABASE !== 'postgres')(
  'leaves no trace of queued messages that the session could no longer accept',
  async () => {
    const id = await createSession(test, {}, token);
    const before = await logOf(id);
    const other = new pg.Client({ connectionString: test.databaseUrl as string });
    await other.connect();
    try {
      await other.query('begin');
      await other.query('select 1 from run where session_id = $1 for update', [id]);
      const sending = Array.from({ length: 3 }, (_, n) => send(id, `waiting ${n}`));
      await vi.waitFor(async () => {
        const [waiting] = await test.app.services.store.query(
          `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        // The others wait behind it in the process.
        expect(waiting).toEqual({ count: 1 });
      });
      await other.query('update session set is_archived = true where id = $1', [id]);
      await other.query('commit');
      expect((await Promise.all(sending)).map(({ status }) => status)).toEqual([409, 409, 409]);
    } finally {
      await other.end();
    }
    expect(await logOf(id)).toEqual(before);
    expect(await auditedOf(id)).toEqual([]);
    const [head] = await test.app.services.store.query('select next_seq from session_head where session_id = $1', [id]);
    expect(head).toEqual({ 'next_seq': before.length + 1 });
  },
);
