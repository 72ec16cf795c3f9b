import { describe, expect, it, onTestFinished } from 'vitest';
import { newToken } from '../../src/auth/tokens.ts';
import { waitForServer } from '../../src/store/postgres-server.ts';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import {
  type ClusterOptions,
  findPostgresBinaries,
  type PostgresCluster,
  startPostgresCluster,
} from '../support/postgres-cluster.ts';
import { copyDatabase, useTransactions } from '../support/postgres-copies.ts';
import { waitUntilEnded } from '../support/session-waits.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
import { testDatabase } from '../support/test-store.ts';

const everything = { roles: ['api', 'worker', 'scheduler'] } as const;

async function start(overrides: Parameters<typeof startApp>[0] = {}): Promise<TestApp> {
  const test = await startApp(overrides);
  onTestFinished(() => test.close());
  return test;
}

async function startOn(original: TestApp, overrides: Parameters<TestApp['another']>[0]): Promise<TestApp> {
  const test = await original.another(overrides);
  onTestFinished(() => test.close());
  return test;
}

async function startCluster(options: ClusterOptions = {}): Promise<PostgresCluster> {
  const cluster = await startPostgresCluster(findPostgresBinaries() as string, options);
  onTestFinished(() => cluster.stop());
  return cluster;
}

async function readMode(test: TestApp): Promise<{ reason: string } | null> {
  const { data } = await graphql(test, test.adminToken, '{ maintenance { reason since } }');
  return data.maintenance;
}

const statusOf = async (test: TestApp, id: string): Promise<string> =>
  (await graphql(test, test.adminToken, 'query($id: ID!) { session(id: $id) { status } }', { id })).data.session.status;

async function endMaintenance(test: TestApp): Promise<void> {
  const document = 'mutation { endMaintenance(input: {}) { isEnded userErrors { code } } }';
  const { data } = await graphql(test, test.adminToken, document);
  expect(data.endMaintenance).toEqual({ isEnded: true, userErrors: [] });
}

interface AuditEdge {
  readonly cursor: string;
  readonly node: { readonly action: string };
}

/** Reads a page of the audit log in ascending order, like a program that follows it; returns it or the code of the refusal. */
async function readAudit(test: TestApp, after: string | null): Promise<AuditEdge[] | string> {
  const document = `query($after: String) { enterprise {
    auditLog(first: 100, after: $after, orderBy: { field: CREATED_AT, direction: ASC }) { edges { cursor node { action } } } } }`;
  const { data, errors } = await graphql(test, test.adminToken, document, { after });
  return errors ? errors[0].extensions.code : data.enterprise.auditLog.edges;
}

async function edgesOf(test: TestApp): Promise<AuditEdge[]> {
  const edges = await readAudit(test, null);
  if (typeof edges === 'string') throw new Error(edges);
  return edges;
}

const readChangesCursor = async (test: TestApp): Promise<string> =>
  (await graphql(test, test.adminToken, '{ changesCursor }')).data.changesCursor;

/** Returns the session of the first change after a cursor. */
async function nextChanged(test: TestApp, after: string): Promise<string> {
  const document = 'subscription($after: String) { sessionChanges(after: $after) { sessionId } }';
  const [payload] = await follow(connect(test.url, test.adminToken), document, { after }).take(1);
  return payload.data.sessionChanges.sessionId;
}

const followAudit = async (test: TestApp) => (await edgesOf(test)).map(({ node }) => node.action);

describe.skipIf(testDatabase !== 'postgres')('a database that was restored from a dump', () => {
  it('runs nothing in the same cluster until maintenance mode ends', async () => {
    const original = await start();
    const id = await createSession(original, { prompt: 'say done' });
    const databaseUrl = await copyDatabase(original.databaseUrl as string, process.env.TEST_POSTGRES_URL as string);
    const copy = await startOn(original, { ...everything, databaseUrl });

    expect(await readMode(copy)).toMatchObject({ reason: 'COPIED_DATABASE' });
    const ready = await fetch(`${copy.url}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([200, 'ready, in maintenance mode: nothing is run\n']);
    // Writes are accepted, and wait.
    const later = await createSession(copy, { prompt: 'say later' });
    expect([await statusOf(copy, id), await statusOf(copy, later)]).toEqual(['NEW', 'NEW']);
    expect(copy.app.worker?.active()).toBe(0);

    await endMaintenance(copy);
    await Promise.all([waitUntilEnded(copy, id), waitUntilEnded(copy, later)]);
    expect(await readMode(copy)).toBeNull();
    // An ascending reader waits for transactions of other tests' databases.
    await expect.poll(() => followAudit(copy)).toContain('UPDATE_ENTERPRISE_SETTINGS');
    expect(await statusOf(original, id)).toBe('NEW');
  });

  it('keeps the audit log, its followers and the live list readable in a younger cluster', async () => {
    const { url: older } = await startCluster();
    await useTransactions(older, 20_000);
    const { url: younger } = await startCluster();
    const first = await start();
    const databaseUrl = await copyDatabase(first.databaseUrl as string, older);
    const original = await startOn(first, { databaseUrl, maintenance: false });
    // Entries of the first cluster: if it is ahead of this one, this start has moved them to the beginning.
    const moved = await edgesOf(original);
    const id = await createSession(original, { prompt: 'say done' });
    const before = await followAudit(original);
    const edges = (await edgesOf(original)).slice(moved.length);
    expect(edges.map(({ node }) => node.action)).toEqual(['CREATE_SESSION']);

    const changesCursor = await readChangesCursor(original);
    const copied = await copyDatabase(databaseUrl, younger);
    // Written by the original after the dump.
    await createSession(original, { prompt: 'say lost' });
    const lost = await readChangesCursor(original);
    const copy = await startOn(first, { ...everything, databaseUrl: copied });
    expect(await readMode(copy)).toMatchObject({ reason: 'COPIED_DATABASE' });
    expect(await followAudit(copy)).toEqual(before);
    // Readers of the original continue: no entry is lost or repeated.
    const all = await edgesOf(copy);
    for (const [index, { cursor }] of all.entries())
      expect(await readAudit(copy, cursor)).toEqual(all.slice(index + 1));
    expect(all.map(({ cursor }) => cursor)).toEqual([...moved, ...edges].map(({ cursor }) => cursor));
    const [ahead] = await copy.app.services.store.query<{ isAhead: boolean }>(
      `select exists (select 1 from session_change where changed_xid >= next_transaction()) as "isAhead"`,
    );
    expect(ahead).toEqual({ isAhead: false });
    const later = await createSession(copy, { prompt: 'say later' });
    for (const after of [changesCursor, lost]) expect(await nextChanged(copy, after)).toBe(`devin-${later}`);
    // Also once this cluster has used those numbers itself.
    await useTransactions(younger, 30_000);
    expect(await readAudit(copy, edges[0]?.cursor ?? '')).toMatchObject([{ node: { action: 'CREATE_SESSION' } }]);
    await endMaintenance(copy);
    await waitUntilEnded(copy, id);
  });

  it('works at once if MAINTENANCE=false declares that it replaces the original', async () => {
    const original = await start();
    const id = await createSession(original, { prompt: 'say done' });
    const databaseUrl = await copyDatabase(original.databaseUrl as string, process.env.TEST_POSTGRES_URL as string);
    const copy = await startOn(original, { ...everything, databaseUrl, maintenance: false });
    await waitUntilEnded(copy, id);
    expect(await readMode(copy)).toBeNull();
  });

  it('is distinguished from a restart and from a second process', async () => {
    const original = await start();
    const second = await startOn(original, everything);
    expect(await readMode(second)).toBeNull();
    // A new token is written by the start itself.
    const third = await startOn(original, { ...everything, bootstrapToken: newToken('SERVICE_USER') });
    expect(await readMode(third)).toBeNull();
  });

  it('is distinguished from a promoted standby, which continues the work', async () => {
    const first = await start();
    const primary = await startCluster();
    const databaseUrl = await copyDatabase(first.databaseUrl as string, primary.url);
    const original = await first.another({ databaseUrl, maintenance: false });
    const id = await createSession(original, { prompt: 'say done' });
    const standby = await startCluster({ standbyOf: primary.url });
    const { port } = new URL(standby.url);
    const standbyUrl = Object.assign(new URL(databaseUrl), { port }).href;
    await expect(waitForServer(standbyUrl, { ms: 0 })).rejects.toThrow('it is a standby, which takes no writes');
    await original.close();
    await primary.stop();
    await standby.promote();
    const promoted = await startOn(first, { ...everything, databaseUrl: standbyUrl });
    expect(await readMode(promoted)).toBeNull();
    await waitUntilEnded(promoted, id);
  });
});

describe('MAINTENANCE=true', () => {
  it('starts a process that serves requests and runs nothing, and that no request can release', async () => {
    const test = await start({ ...everything, maintenance: true });
    const id = await createSession(test, { prompt: 'say done' });
    expect(await readMode(test)).toMatchObject({ reason: 'CONFIGURED' });
    const document = 'mutation { endMaintenance(input: {}) { isEnded userErrors { code } } }';
    const { data } = await graphql(test, test.adminToken, document);
    expect(data.endMaintenance).toMatchObject({ userErrors: [{ code: 'INVALID_STATE' }] });
    expect(await statusOf(test, id)).toBe('NEW');
  });

  it("can only be ended with the permission to change the enterprise's settings", async () => {
    const test = await start();
    const document = 'mutation { endMaintenance(input: {}) { isEnded } }';
    const { token } = await makeOrganization(test, 'Acme');
    const { errors } = await graphql(test, token, document);
    expect(errors?.[0]?.extensions?.code).toBe('FORBIDDEN');
  });
});
