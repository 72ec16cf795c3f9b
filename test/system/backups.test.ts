import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { backUp, contentOf, type Installed, manifestOf, restore, variablesOf } from '../support/backups.ts';
import { findPostgresBinaries, startPostgresCluster } from '../support/postgres-cluster.ts';
import { onDatabase, useTransactions } from '../support/postgres-copies.ts';
import { runCommand } from '../support/server.ts';
import { makeDirectory } from '../support/server-env.ts';
import { createSession, say } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
import { testDatabase } from '../support/test-store.ts';
import { linkOf, uploadTo } from '../support/uploads.ts';
import { startWorld } from '../tenancy/world.ts';

const allowMissing = '--allow-missing-files';

/** Tables without rows in the world of the tests of tenancy: what jobs write, which do not run there, and short-lived rows. */
const emptyTables = [
  ...['automation_feed', 'automation_progress', 'deleted_session', 'paging_snapshot', 'used_sign_on_value'],
  ...['webhook_feed', 'webhook_progress'],
];

/** Starts a service on restored data. */
async function startOn(original: TestApp, { dataDir, databaseUrl }: Installed, more: object = {}): Promise<TestApp> {
  const attachmentsDir = join(dataDir, 'attachments');
  const test = await original.another({ dataDir, databaseUrl, attachmentsDir, ...more });
  let closed: Promise<void> | null = null;
  const close = () => {
    closed ??= test.close();
    return closed;
  };
  onTestFinished(close);
  return { ...test, dataDir, databaseUrl, close };
}

/** Returns the URL of a new, empty database in a cluster of its own, whose transaction numbers are small. */
async function makeYoungDatabase(): Promise<string> {
  const cluster = await startPostgresCluster(findPostgresBinaries() as string);
  onTestFinished(() => cluster.stop());
  await onDatabase(cluster.url, 'create database restored');
  return Object.assign(new URL(cluster.url), { pathname: '/restored' }).href;
}

const listDocument = `query($after: String) { enterprise { auditLog(first: 100, after: $after, orderBy: { field: CREATED_AT, direction: ASC }) {
  edges { cursor node { auditLogId action createdAt } } } }
  sessions(first: 50) { nodes { sessionId title status createdAt updatedAt tags messages(first: 50) { nodes { __typename } } } } }`;

/** Reads what users of each API see. */
async function readAll(test: TestApp) {
  const paths = [
    `/v3/organizations/org-${test.organizationId}/sessions`,
    `/v3/enterprise/audit-logs?order=asc`,
    `/v3/enterprise/members/users`,
    `/v3/enterprise/playbooks`,
  ];
  const rest = await Promise.all(paths.map((path) => call(test, test.adminToken, 'GET', path)));
  const earlier = await Promise.all(
    ['/v1/sessions', '/v2/enterprise/organizations', '/v2/enterprise/members'].map((path) =>
      call(test, test.v1Key, 'GET', path),
    ),
  );
  const { data, errors } = await graphql(test, test.adminToken, listDocument);
  expect(errors).toBeUndefined();
  const answers = [...rest, ...earlier].map(({ status, body }) => ({ status, body: withoutAddress(body, test.url) }));
  for (const { status } of answers) expect(status).toBe(200);
  return { answers, data };
}

// Links have the address of the service, and the signature of a link its time.
const withoutAddress = (body: unknown, url: string) =>
  JSON.parse(JSON.stringify(body).replaceAll(url, 'http://service'));

async function readChangesCursor(test: TestApp): Promise<string> {
  return (await graphql(test, test.adminToken, '{ changesCursor }')).data.changesCursor;
}

/** Returns the session of the first change after a cursor. */
async function nextChanged(test: TestApp, after: string): Promise<string> {
  const document = 'subscription($after: String) { sessionChanges(after: $after) { sessionId } }';
  const [payload] = await follow(connect(test.url, test.adminToken), document, { after }).take(1);
  return payload.data.sessionChanges.sessionId;
}

async function auditAfter(
  test: TestApp,
  after: string | null,
): Promise<{ cursor: string; node: { action: string } }[]> {
  const { data, errors } = await graphql(test, test.adminToken, listDocument, { after });
  expect(errors).toBeUndefined();
  return data.enterprise.auditLog.edges;
}

describe.skipIf(testDatabase !== 'postgres')('a backup', () => {
  it('has every table of a used service, and is the same after a restore into either database', async () => {
    const { test } = await startWorld();
    onTestFinished(() => test.close());
    const first = await backUp(test, allowMissing);
    const { tables } = manifestOf(first);
    // The seeds of the tests of tenancy have rows in nearly every table.
    expect(tables.filter(({ rows }) => rows === 0).map(({ name }) => name)).toEqual(emptyTables);
    const [inDatabase] = await test.app.services.store.query<{ count: number }>(
      `select count(*)::int as count from pg_tables where schemaname = current_schema() and tablename <> '_prisma_migrations'`,
    );
    // Rates are in an unlogged table, which is left out.
    expect(tables.length).toBe((inDatabase?.count ?? 0) - 1);
    const embedded = { dataDir: makeDirectory(), databaseUrl: null };
    await restore(first, embedded);
    const second = await backUp(embedded, allowMissing);
    expect(contentOf(second)).toEqual(contentOf(first));
    const server = { dataDir: makeDirectory(), databaseUrl: await makeYoungDatabase() };
    await restore(second, server);
    expect(contentOf(await backUp(server, allowMissing))).toEqual(contentOf(first));
  });

  it('is answered alike by every API, and its readers continue, in either database', async () => {
    const original = await startApp();
    onTestFinished(() => original.close());
    await useTransactions(original.databaseUrl as string, 5_000);
    const id = await createSession(original, { prompt: 'say done' });
    await say(original, id, 'One answer.', 'Another “answer” with \\ and \u0007.');
    const content = new Uint8Array(100_000).map((_, n) => n % 251);
    const { url } = await uploadTo(original, original.organizationId, { name: 'a.bin', content });
    const before = await readAll(original);
    const audit = await auditAfter(original, null);
    const cursor = await readChangesCursor(original);
    const backup = await backUp(original);
    // Written by the original after the backup.
    await createSession(original, { prompt: 'say lost' });
    const lost = await readChangesCursor(original);

    const embedded = { dataDir: makeDirectory(), databaseUrl: null };
    await restore(backup, embedded);
    const copy = await startOn(original, embedded);
    expect(await readAll(copy)).toEqual(before);
    const { data } = await graphql(copy, copy.adminToken, '{ maintenance { reason } }');
    expect(data.maintenance).toEqual({ reason: 'COPIED_DATABASE' });
    const link = await linkOf(copy.adminToken, url.replace(original.url, copy.url));
    expect(new Uint8Array(await (await fetch(link)).arrayBuffer())).toEqual(content);
    const later = await createSession(copy, { prompt: 'say later' });
    for (const after of [cursor, lost]) expect(await nextChanged(copy, after)).toBe(`devin-${later}`);
    for (const [index, edge] of audit.entries()) {
      const rest = await auditAfter(copy, edge.cursor);
      expect(rest.slice(0, -1)).toEqual(audit.slice(index + 1));
      expect(rest.at(-1)?.node.action).toBe('CREATE_SESSION');
    }
    const ofCopy = await readAll(copy);
    const cursorOfCopy = await readChangesCursor(copy);
    const refused = await runCommand('backup', variablesOf(embedded), join(makeDirectory(), 'backup'));
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('Stop it while the backup is written')]);
    await copy.close();

    const server = { dataDir: makeDirectory(), databaseUrl: await makeYoungDatabase() };
    await restore(await backUp(embedded), server);
    const last = await startOn(original, server);
    expect(await readAll(last)).toEqual(ofCopy);
    const latest = await createSession(last, { prompt: 'say latest' });
    expect(await nextChanged(last, cursorOfCopy)).toBe(`devin-${latest}`);
    expect(await nextChanged(last, cursor)).toBe(`devin-${later}`);
  });
});
