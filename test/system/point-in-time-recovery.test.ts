import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { type ClusterOptions, findPostgresBinaries, startPostgresCluster } from '../support/postgres-cluster.ts';
import { copyDatabase, onDatabase } from '../support/postgres-copies.ts';
import { makeDirectory } from '../support/server-env.ts';
import { waitUntilEnded } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';
import { testDatabase } from '../support/test-store.ts';
import { linkOf, uploadTo } from '../support/uploads.ts';

const binaries = findPostgresBinaries();

async function startCluster(options: ClusterOptions) {
  const cluster = await startPostgresCluster(binaries as string, options);
  onTestFinished(() => cluster.stop());
  return cluster;
}

/** Returns the sessions of a service by their prompts. */
async function titlesOf(test: TestApp): Promise<string[]> {
  const { data } = await graphql(test, test.adminToken, '{ sessions(first: 50) { nodes { title } } }');
  return data.sessions.nodes.map(({ title }: { title: string }) => title).toSorted();
}

/** Ends the current file of the WAL, and waits until it is in the archive. */
async function archiveWal(url: string): Promise<void> {
  const [row] = await onDatabase<{ file: string }>(url, `select pg_walfile_name(pg_switch_wal()) as file`);
  const isArchived = async () => {
    const statement = `select coalesce(last_archived_wal >= '${row?.file}', false) as "isArchived" from pg_stat_archiver`;
    return (await onDatabase<{ isArchived: boolean }>(url, statement))[0]?.isArchived;
  };
  await expect.poll(isArchived).toBe(true);
}

// The steps of docs/operations.md#tools-of-postgresql.
it.skipIf(testDatabase !== 'postgres' || binaries === null)(
  'a service starts on a database that was recovered to a point in time, with what was before and without what was after',
  async () => {
    const archive = makeDirectory();
    chmodSync(archive, 0o777);
    const settings = ['archive_mode=on', `archive_command='cp %p ${archive}/%f'`];
    const primary = await startCluster({ settings });
    const first = await startApp();
    onTestFinished(() => first.close());
    const databaseUrl = await copyDatabase(first.databaseUrl as string, primary.url);
    const files = join(makeDirectory(), 'files');
    const original = await first.another({ databaseUrl, maintenance: false, attachmentsDir: files });
    await createSession(original, { prompt: 'say first', title: 'first' });
    const base = await primary.backUp();

    const before = await createSession(original, { prompt: 'say before', title: 'before' });
    const { url } = await uploadTo(original, original.organizationId, { name: 'before.txt', content: 'before' });
    await onDatabase(databaseUrl, `select pg_create_restore_point('accident')`);
    await createSession(original, { prompt: 'say after', title: 'after' });
    const late = await uploadTo(original, original.organizationId, { name: 'after.txt', content: 'after' });
    expect(await titlesOf(original)).toEqual(['after', 'before', 'first']);
    await archiveWal(databaseUrl);
    await original.close();

    const recovered = await startCluster({
      recoveryOf: base,
      settings: [
        `restore_command='cp ${archive}/%f %p'`,
        ...['recovery_target_name=accident', 'recovery_target_action=promote', 'archive_mode=off'],
      ],
    });
    const { port } = new URL(recovered.url);
    const recoveredUrl = Object.assign(new URL(databaseUrl), { port }).href;
    const everything = {
      roles: ['api', 'worker', 'scheduler'],
      databaseUrl: recoveredUrl,
      attachmentsDir: files,
    } as const;
    const test = await first.another(everything);
    onTestFinished(() => test.close());
    expect(await titlesOf(test)).toEqual(['before', 'first']);
    // It has the identity of the original, so it works at once.
    expect((await graphql(test, test.adminToken, '{ maintenance { reason } }')).data.maintenance).toBeNull();
    await waitUntilEnded(test, before);
    const link = await linkOf(test.adminToken, url.replace(original.url, test.url));
    expect(await (await fetch(link)).text()).toBe('before');
    const headers = { authorization: `Bearer ${test.adminToken}` };
    expect((await fetch(late.url.replace(original.url, test.url), { headers })).status).toBe(404);
  },
);
