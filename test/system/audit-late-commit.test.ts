import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { call, makeOrganization, startApp, type TestApp } from '../rest/rest-app.ts';
import { seedAuditEntries } from '../support/audit.ts';
import { testDatabase } from '../support/test-store.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const entriesOf = (organizationId: string) =>
  `/v3/enterprise/organizations/${organizationId}/audit-logs?action=send_message`;

async function readPage(path: string): Promise<{ ids: string[]; cursor: string | null; more: boolean }> {
  const { status, body } = await call(app, app.adminToken, 'GET', path);
  expect(status).toBe(200);
  const ids = body.items.map((item: any) => item.audit_log_id.replace('audit_log-', ''));
  return { ids, cursor: body.end_cursor, more: body.has_next_page };
}

/** A reader that follows the log in ascending order, like an export: it stores its last cursor, and continues from it. */
function follow(organizationId: string) {
  const seen: string[] = [];
  let cursor: string | null = null;
  return {
    seen,
    /** Reads to the current end of the log. */
    async catchUp(): Promise<string[]> {
      for (;;) {
        const after: string = cursor === null ? '' : `&after=${encodeURIComponent(cursor)}`;
        const page = await readPage(`${entriesOf(organizationId)}&order=asc&first=2${after}`);
        seen.push(...page.ids);
        cursor = page.cursor ?? cursor;
        if (!page.more) return seen;
      }
    },
  };
}

interface Exported {
  readonly header: { readonly end_cursor: string | null; readonly after: string | null };
  readonly ids: readonly string[];
}

/** Exports the log of an organization; the ids are those of its messages. */
async function exportLog(organizationId: string, query = ''): Promise<Exported> {
  const path = `/v3/enterprise/organizations/${organizationId}/audit-logs/export${query}`;
  const headers = { authorization: `Bearer ${app.adminToken}` };
  const response = await fetch(app.url + path, { method: 'POST', headers });
  expect(response.status).toBe(200);
  const [header, ...lines] = (await response.text())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const messages = lines.filter(({ action }) => action === 'send_message');
  return { header, ids: messages.map(({ audit_log_id }) => audit_log_id.replace('audit_log-', '')) };
}

/** A client that exports the log again and again, each time from the end of the export before. */
function followByExports(organizationId: string) {
  const seen: string[] = [];
  let end: string | null = null;
  return {
    seen,
    async catchUp(): Promise<string[]> {
      const after: string = end === null ? '' : `?after=${encodeURIComponent(end)}`;
      const { header, ids } = await exportLog(organizationId, after);
      expect(header.after).toBe(end);
      seen.push(...ids);
      end = header.end_cursor;
      return seen;
    },
  };
}

/** A transaction on a separate connection, like in another process. */
async function openTransaction(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: app.databaseUrl ?? '' });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('begin');
  return client;
}

async function write(client: pg.Client, organizationId: string): Promise<string> {
  const id = newId();
  await client.query(
    `insert into audit_entry (id, enterprise_id, organization_id, action, created_at) values ($1, $2, $3, 'send_message', $4)`,
    [id, app.app.installation.enterpriseId, organizationId, new Date()],
  );
  return id;
}

// Transactions that other test files hold open in other databases of the server hold an ascending reader back as well.
const eventually = (read: () => Promise<string[]>) => expect.poll(read, { timeout: 60_000, interval: 20 });

const onPostgres = test.skipIf(testDatabase === 'pglite');

onPostgres('an entry that is committed after newer ones is neither skipped nor given twice', async () => {
  const organizationId = await makeOrganization(app);
  const seedEntry = async () => (await seedAuditEntries(app, [{ action: 'send_message', organizationId }]))[0] ?? '';
  const first = await seedEntry();
  const reader = follow(organizationId);
  await eventually(reader.catchUp).toEqual([first]);

  const late = await openTransaction();
  const lateId = await write(late, organizationId);
  const newer = [await seedEntry(), await seedEntry(), await seedEntry()];
  // A reader of the newest entries gets them, ordered by time.
  expect((await readPage(entriesOf(organizationId))).ids).toEqual([...newer.toReversed(), first]);
  // A follower does not get them yet: its cursor would skip the late entry.
  expect(await reader.catchUp()).toEqual([first]);

  await late.query('commit');
  await eventually(reader.catchUp).toEqual([first, lateId, ...newer]);
  expect(await reader.catchUp()).toHaveLength(5);
});

onPostgres('transactions that commit in any order reach a follower once each, in one order for all', async () => {
  const organizationId = await makeOrganization(app);
  const reader = follow(organizationId);
  const written: string[] = [];
  // 12 transactions, at most 4 of them open; the order of their ends is fixed, but looks random.
  const open: pg.Client[] = [];
  for (let n = 0; n < 12; n++) {
    const client = await openTransaction();
    written.push(await write(client, organizationId), await write(client, organizationId));
    open.push(client);
    if (open.length === 4) await open.splice((n * 7) % 4, 1)[0]?.query('commit');
    await reader.catchUp();
  }
  for (const client of open.toReversed()) {
    await client.query('commit');
    await reader.catchUp();
  }
  await eventually(async () => [...(await reader.catchUp())].sort()).toEqual(written.toSorted());
  expect(await follow(organizationId).catchUp()).toEqual(reader.seen);
});

onPostgres('an export continues where the last one ended, and skips no entry that was committed late', async () => {
  const organizationId = await makeOrganization(app);
  const seedEntry = async () => (await seedAuditEntries(app, [{ action: 'send_message', organizationId }]))[0] ?? '';
  const first = await seedEntry();
  const reader = followByExports(organizationId);
  await eventually(reader.catchUp).toEqual([first]);

  const late = await openTransaction();
  const lateId = await write(late, organizationId);
  const early = await openTransaction();
  const earlyId = await write(early, organizationId);
  await early.query('commit');
  const newer = await seedEntry();
  // A range of times has what is committed, and no position at which another export could continue.
  const byTime = await exportLog(organizationId, `?time_before=${Math.ceil(Date.now() / 1_000) + 60}`);
  expect([byTime.ids, byTime.header.end_cursor]).toEqual([[first, earlyId, newer], null]);
  expect(await reader.catchUp()).toEqual([first]);

  await late.query('commit');
  await eventually(reader.catchUp).toEqual([first, lateId, earlyId, newer]);
  await reader.catchUp();
  expect(reader.seen).toHaveLength(4);
  // Without a position, the order is that of time, and the end is the same.
  const all = await exportLog(organizationId);
  expect([all.ids, all.header.after]).toEqual([[first, lateId, earlyId, newer], null]);
});

onPostgres('exports that follow each other have each entry once, in any order of the commits', async () => {
  const organizationId = await makeOrganization(app);
  const reader = followByExports(organizationId);
  const written: string[] = [];
  const open: pg.Client[] = [];
  for (let n = 0; n < 12; n++) {
    const client = await openTransaction();
    written.push(await write(client, organizationId), await write(client, organizationId));
    open.push(client);
    if (open.length === 4) await open.splice((n * 7) % 4, 1)[0]?.query('commit');
    await reader.catchUp();
  }
  for (const client of open.toReversed()) await client.query('commit');
  await eventually(async () => [...(await reader.catchUp())].sort()).toEqual(written.toSorted());
  // A cursor of the list is one of the exports too.
  const { cursor } = await readPage(`${entriesOf(organizationId)}&order=asc&first=5`);
  const rest = await exportLog(organizationId, `?after=${encodeURIComponent(cursor ?? '')}`);
  expect(rest.ids).toEqual(reader.seen.slice(5));
});

onPostgres('what is rolled back holds nobody up and never appears', async () => {
  const organizationId = await makeOrganization(app);
  const client = await openTransaction();
  await write(client, organizationId);
  const [retained = ''] = await seedAuditEntries(app, [{ action: 'send_message', organizationId }]);
  await client.query('rollback');
  await eventually(follow(organizationId).catchUp).toEqual([retained]);
});

test('a follower receives each entry once while new ones are written', async () => {
  const organizationId = await makeOrganization(app);
  const reader = follow(organizationId);
  const written: string[] = [];
  for (let n = 0; n < 5; n++) {
    written.push(...(await seedAuditEntries(app, Array(n).fill({ action: 'send_message', organizationId }))));
    await reader.catchUp();
  }
  await eventually(reader.catchUp).toEqual(written);
});
