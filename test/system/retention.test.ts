import { describe, expect, it } from 'vitest';
import type { RetentionTimes, Services } from '../../src/domain/context.ts';
import { newId } from '../../src/domain/ids.ts';
import { deleteOldSessions, sessionTables } from '../../src/domain/retention/delete-sessions.ts';
import { pruneAuditLogs } from '../../src/domain/retention/prune-audit-log.ts';
import { deleteOrphanedAttachments } from '../../src/domain/sessions/attachments/orphans.ts';
import { pruneWebhooks } from '../../src/domain/webhooks/prune-deliveries.ts';
import { call, graphql } from '../support/app.ts';
import { seedAuditEntries } from '../support/audit.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
import { testDatabase } from '../support/test-store.ts';
import { readStoredFiles, uploadTo } from '../support/uploads.ts';
import { use } from '../support/usage.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
const never = () => false;
const dayMs = 86_400_000;
const keptForEver: RetentionTimes = { sessionMs: null, attachmentMs: null, auditLogMs: null, webhookDeliveryMs: null };

/** The services after some days, with these retention times in days. */
function later(days: number, retention: Partial<Record<keyof RetentionTimes, number>>): Services {
  const { services } = test.app;
  const times = Object.fromEntries(Object.entries(retention).map(([name, count]) => [name, count * dayMs]));
  return { ...services, now: () => new Date(Date.now() + days * dayMs), retention: { ...keptForEver, ...times } };
}

/** Deletes sessions that ended more than 30 days ago, 31 days from now. */
const sweep = (isStopped = never) => deleteOldSessions(later(31, { sessionMs: 30 }), isStopped);

const terminate = async (id: string, organizationId = test.organizationId) => {
  const path = `/v3/organizations/${organizationId}/sessions/devin-${id}`;
  expect((await call(test, test.adminToken, 'DELETE', path)).status).toBe(200);
};

async function makeEnded(input: Record<string, unknown> = {}): Promise<string> {
  const id = await createSession(test, input);
  await terminate(id, (input.organizationId as string | undefined) ?? test.organizationId);
  return id;
}

/** The tables that have a row of a session. */
async function tablesWith(id: string): Promise<string[]> {
  const { store } = test.app.services;
  const tables = await store.query<{ name: string }>(
    `select table_name::text as name from information_schema.columns where table_schema = 'public' and column_name = 'session_id' order by 1`,
  );
  const parts = tables.map(({ name }) => `select '${name}' as name from "${name}" where session_id = $1`);
  const rows = await store.query<{ name: string }>(
    `${parts.join(' union ')} union select 'session' from session where id = $1 order by 1`,
    [id],
  );
  return rows.map(({ name }) => name);
}

const exists = async (id: string) => (await tablesWith(id)).includes('session');

describe('sessions', () => {
  it('are deleted with all they have except their usage, and are not found any more', async () => {
    const file = await uploadTo(test, test.organizationId, { name: 'a.txt', content: 'x' });
    const id = await createSession(test, { attachmentIds: [file.attachment_id], tags: ['old'] });
    await say(test, id, ...Array.from({ length: 1_201 }, (_, n) => `line ${n}`));
    const today = new Date().toISOString().slice(0, 10);
    await use(test, id, 2.5, new Date());
    await terminate(id);
    expect(await tablesWith(id)).toEqual(expect.arrayContaining(['attachment', 'log_entry', 'run', 'session_text']));
    const read = (path: string, token = test.adminToken) => call(test, token, 'GET', path);
    const path = `/v3/organizations/${test.organizationId}/sessions`;
    const consumed = await read('/v3/enterprise/consumption/daily');

    expect(await sweep()).toBe(1);
    expect(await tablesWith(id)).toEqual(['attachment', 'audit_entry', 'deleted_session', 'usage']);
    await deleteOrphanedAttachments(later(0, {}), never);
    expect(await tablesWith(id)).toEqual(['audit_entry', 'deleted_session', 'usage']);
    expect(await readStoredFiles(test)).toEqual([]);

    expect((await read(`${path}/devin-${id}`)).status).toBe(404);
    expect((await read(`${path}?first=200`)).body.items.map(({ session_id }: any) => session_id)).not.toContain(id);
    const found = await graphql(test, test.adminToken, 'query($id: ID!) { session(id: $id) { id } }', {
      id: `devin-${id}`,
    });
    expect(found.data).toEqual({ session: null });
    expect((await read(`${path}/devin-${id}/messages`)).status).toBe(404);
    // Bills stay as they were.
    expect((await read('/v3/enterprise/consumption/daily')).body).toEqual(consumed.body);
    const bill = await read(`/v1/enterprise/consumption?start_date=${today}&end_date=${today}`, test.v1Key);
    expect(bill.body.sessions).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ session_name: 'Deleted session', acu_used: 2.5, url: expect.stringContaining(id) }),
      ]),
    );
    const entries = await read(`/v3/enterprise/audit-logs?action=delete_session`);
    expect(entries.body.items).toMatchObject([
      { action: 'delete_session', user_id: null, service_user_id: null, data: { session_id: id, target_id: id } },
    ]);
    expect(await sweep()).toBe(0);
  });

  it('lose the rows of every table with sessions', async () => {
    const tables = await test.app.services.store.query<{ name: string }>(
      `select table_name::text as name from information_schema.columns where table_schema = 'public' and column_name = 'session_id'`,
    );
    // Deleted later, or by other jobs.
    const later = ['log_entry', 'session_text', 'attachment', 'checkpoint_segment'];
    // A session goes after its snapshots and set-ups, and the rest names it without its content.
    const kept = ['snapshot', 'environment_build', 'usage', 'audit_entry', 'automation_run', 'deleted_session'];
    // Reading positions of organizations.
    const positions = ['automation_feed', 'webhook_feed'];
    expect(tables.map(({ name }) => name).toSorted()).toEqual(
      [...sessionTables, ...later, ...kept, ...positions].toSorted(),
    );
  });

  it('stay while they may go on, are young, have a child, or have files that a snapshot uses', async () => {
    const { store } = test.app.services;
    const asleep = await createSession(test);
    await store.execute(
      `update session set status = 'suspended', status_detail = 'user_request', updated_at = now() - interval '90 days' where id = $1 returning id`,
      [asleep],
    );
    const queued = await createSession(test);
    const parent = await makeEnded();
    const child = await createSession(test);
    await store.execute('update session set parent_id = $2 where id = $1 returning id', [child, parent]);
    const pictured = await makeEnded();
    const checkpointId = newId();
    await store.execute(
      `insert into checkpoint (id, session_id, organization_id, generation, kind, turn, seq, content, segment_ids, files, bytes, stored_bytes, created_at)
       select $2, id, organization_id, 0, 'WORK', 0, 0, '{}', '{}', 0, 0, 0, now() from session where id = $1 returning id`,
      [pictured, checkpointId],
    );
    await store.execute(
      `insert into snapshot (id, organization_id, name, checkpoint_id, session_id, created_at, updated_at)
       select $3, organization_id, 'Kept', $2, id, now(), now() from session where id = $1 returning id`,
      [pictured, checkpointId, newId()],
    );
    expect(await deleteOldSessions(later(29, { sessionMs: 30 }), never)).toBe(0);
    expect(await sweep()).toBe(0);
    for (const id of [asleep, queued, parent, child, pictured]) expect(await exists(id)).toBe(true);

    await terminate(child);
    await store.execute('delete from snapshot where session_id = $1 returning id', [pictured]);
    // A child goes before its parent, in the same sweep.
    expect(await sweep()).toBe(3);
    expect(await Promise.all([asleep, queued, parent, child, pictured].map(exists))).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
    for (const id of [asleep, queued]) await terminate(id);
    await sweep();
  });

  // The embedded database has one connection: a transaction is alone.
  it.runIf(testDatabase === 'postgres')('are left alone while a caller changes them', async () => {
    const id = await makeEnded();
    const { store } = test.app.services;
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let isLocked: () => void = () => undefined;
    const locked = new Promise<void>((resolve) => {
      isLocked = resolve;
    });
    const transaction = store.transact(async (tx) => {
      await tx.query('select 1 from run where session_id = $1 for share', [id]);
      isLocked();
      await released;
    });
    await locked;
    // It skips the locked session and does not wait.
    expect(await sweep()).toBe(0);
    release();
    await transaction;
    expect(await exists(id)).toBe(true);
    expect(await sweep()).toBe(1);
  });

  it('are deleted once by several processes, and completely after a process died', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, () => makeEnded()));
    await say(test, ids[0] as string, ...Array.from({ length: 1_500 }, (_, n) => `line ${n}`));
    const counts = await Promise.all([sweep(), sweep(), sweep()]);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(8);
    for (const id of ids) expect(await tablesWith(id)).toEqual(['audit_entry', 'deleted_session']);

    // A process that ends right after the first transaction leaves the log, and the next one deletes it.
    const [cut] = [await makeEnded()];
    await say(test, cut, ...Array.from({ length: 1_500 }, (_, n) => `line ${n}`));
    let calls = 0;
    expect(await sweep(() => ++calls > 1)).toBe(1);
    expect(await exists(cut)).toBe(false);
    expect(await tablesWith(cut)).toContain('log_entry');
    await sweep();
    expect(await tablesWith(cut)).toEqual(['audit_entry', 'deleted_session']);
  });

  it('are reported as REMOVED to subscribers, also after a cursor', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Followed');
    const id = await createSession(test, { organizationId });
    const query = `subscription($id: ID, $after: String) { sessionChanges(organizationId: $id, after: $after) { type cursor sessionId session { id } } }`;
    const all = `subscription($id: ID!) { changes(organizationId: $id, types: [SESSION]) { type } }`;
    const before = test.app.watches.active();
    const following = follow(connect(test.url, token), query, { id: organizationId });
    const everything = follow(connect(test.url, token), all, { id: organizationId });
    while (test.app.watches.active() !== before + 2) await new Promise((resolve) => setImmediate(resolve));
    await terminate(id, organizationId);
    const change = (payload: any) => payload.data.sessionChanges;
    const [ended] = await following.take(1);
    expect(change(ended)).toMatchObject({ sessionId: `devin-${id}` });
    await sweep();
    for (;;) {
      const [payload] = await following.take(1);
      if (change(payload).type !== 'REMOVED') continue;
      expect(change(payload)).toMatchObject({ sessionId: `devin-${id}`, session: null });
      break;
    }
    for (;;) {
      const [payload] = (await everything.take(1)) as any[];
      if (payload.data.changes.type === 'REMOVED') break;
    }
    const resumed = follow(connect(test.url, token), query, { id: organizationId, after: change(ended).cursor });
    expect(change((await resumed.take(1))[0])).toMatchObject({ type: 'REMOVED', sessionId: `devin-${id}` });
  });
});

describe('attachments', () => {
  it('are deleted after their retention time, unless their session goes on', async () => {
    const file = { name: 'a.txt', content: 'x' };
    const [ofEnded, ofLive, unused] = await Promise.all(
      Array.from({ length: 3 }, () => uploadTo(test, test.organizationId, file)),
    );
    const ended = await createSession(test, { attachmentIds: [ofEnded?.attachment_id] });
    await terminate(ended);
    const live = await createSession(test, { attachmentIds: [ofLive?.attachment_id] });
    const clean = (days: number, attachmentMs: number) =>
      deleteOrphanedAttachments(later(days, { attachmentMs }), never);
    expect(await clean(9, 10)).toBe(0);
    expect(await clean(11, 10)).toBe(2);
    const status = async (each: typeof unused) =>
      (await fetch(each?.url ?? '', { headers: { authorization: `Bearer ${test.adminToken}` } })).status;
    expect([await status(ofEnded), await status(ofLive), await status(unused)]).toEqual([404, 200, 404]);
    await terminate(live);
  });
});

describe('the audit log', () => {
  const list = '/v3/enterprise/audit-logs?order=asc';
  const page = (more: string) => call(test, test.adminToken, 'GET', `${list}&first=2${more}`);

  it('loses old entries, and a reader continues unless it would miss some of them', async () => {
    const { enterpriseId } = test.app.installation;
    const { store } = test.app.services;
    await store.execute('delete from audit_entry where enterprise_id = $1 returning id', [enterpriseId]);
    const other = newId();
    await store.transact((tx) =>
      tx.prisma.enterprise.create({ data: { id: other, name: 'Other', createdAt: new Date() } }),
    );
    const createdAt = new Date(Date.now() - 40 * dayMs);
    const old = { action: 'send_message', createdAt };
    await seedAuditEntries(test, [old, old, old, { action: 'send_message' }]);
    await seedAuditEntries(test, [{ ...old, enterpriseId: other, createdAt: new Date() }]);
    // Transactions of other tests' databases delay the ascending list.
    await expect.poll(async () => (await page('&time_after=0')).body.items.length).toBe(2);
    const first = await page('');
    const cursors: string[] = [first.body.end_cursor];
    const one = (
      await call(test, test.adminToken, 'GET', `${list}&first=1&after=${encodeURIComponent(cursors[0] ?? '')}`)
    ).body;
    cursors.push(one.end_cursor);

    expect(await pruneAuditLogs(later(0, {}), never)).toBe(0);
    expect(await pruneAuditLogs(later(0, { auditLogMs: 30 }), never)).toBe(3);
    expect(await pruneAuditLogs(later(0, { auditLogMs: 30 }), never)).toBe(0);
    const [atSecond, atLast] = await Promise.all(cursors.map((cursor) => page(`&after=${encodeURIComponent(cursor)}`)));
    expect(atSecond?.status).toBe(422);
    expect(atSecond?.body.detail[0].msg).toContain('were deleted when their retention ended');
    expect(atLast?.body.items).toHaveLength(1);
    // The cursors of the other order need no entry.
    const newest = await call(test, test.adminToken, 'GET', '/v3/enterprise/audit-logs?first=1');
    expect(newest.body).toMatchObject({
      has_next_page: false,
      items: [{ audit_log_id: atLast?.body.items[0].audit_log_id }],
    });
  });
});

describe('deliveries of webhooks', () => {
  it('stay for ever without a retention time', async () => {
    const { store } = test.app.services;
    const { organizationId } = await makeOrganization(test, 'Hooks');
    const id = organizationId.replace('org-', '');
    const endpointId = newId();
    await store.execute(
      `insert into webhook_endpoint select (jsonb_populate_record(null::webhook_endpoint, $1::jsonb)).* returning id`,
      [
        JSON.stringify({
          id: endpointId,
          'organization_id': id,
          url: 'https://example.com',
          sealed: 'x',
          'event_types': [],
          'is_enabled': false,
          'since_at': new Date(),
          'consecutive_failures': 0,
          version: 1,
          'created_at': new Date(),
          'updated_at': new Date(),
        }),
      ],
    );
    await store.execute(
      `insert into webhook_delivery (id, organization_id, endpoint_id, event_type, event_id, status, begun_at, created_at)
       values ($1, $2, $3, 'test', $1, 'delivered', now(), now()) returning id`,
      [newId(), id, endpointId],
    );
    const count = async () =>
      (await store.query('select 1 from webhook_delivery where endpoint_id = $1', [endpointId])).length;
    await pruneWebhooks(later(400, {}), never);
    expect(await count()).toBe(1);
    await pruneWebhooks(later(31, { webhookDeliveryMs: 30 }), never);
    expect(await count()).toBe(0);
  });
});
