import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createBackup } from '../../src/backup/create-backup.ts';
import { openDirectoryLocation } from '../../src/backup/directory-location.ts';
import { loadDatabase } from '../../src/backup/restore-database.ts';
import { readManifest, verifyBackup } from '../../src/backup/verify-backup.ts';
import { markUnusedSegments } from '../../src/domain/checkpoints/delete-checkpoints.ts';
import { newId } from '../../src/domain/ids.ts';
import { deleteOrphanedAttachments } from '../../src/domain/sessions/attachments/orphans.ts';
import { withDatabaseSession } from '../../src/store/database-session.ts';
import { openFileStorage } from '../../src/store/files.ts';
import { readMigrations } from '../../src/store/migrations.ts';
import { fillNewDatabase } from '../../src/store/new-database.ts';
import { openStore } from '../../src/store/store.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { backUp, contentOf, manifestOf, restore } from '../support/backups.ts';
import { makeDirectory } from '../support/server-env.ts';
import { createSession, say } from '../support/sessions.ts';
import { testDatabase } from '../support/test-store.ts';
import { readStoredFiles, uploadTo } from '../support/uploads.ts';

const monthMs = 31 * 24 * 60 * 60_000;
const quiet = { warn: () => undefined, error: () => undefined };

describe.skipIf(testDatabase !== 'postgres')('a backup of a service at work', () => {
  let original: TestApp;
  beforeEach(async () => {
    original = await startApp();
    onTestFinished(() => original.close());
  });

  /** Deletes the attachments that no session has used within 30 days, in a month. */
  const deleteUnused = () => {
    const { services } = original.app;
    const inMonth = new Date(services.now().getTime() + monthMs);
    return deleteOrphanedAttachments({ ...services, now: () => inMonth }, () => false);
  };

  /** Stores a segment that no checkpoint has. */
  async function storeSegment(sessionId: string): Promise<string> {
    const { store, segments } = original.app.services;
    const id = newId();
    const path = join(makeDirectory(), 'segment');
    await writeFile(path, 'segment');
    await segments.put(id, path);
    await store.execute(
      `insert into checkpoint_segment (id, session_id, organization_id, bytes, state, created_at) values ($1, $2, $3, 7, 'STORED', now())`,
      [id, sessionId, original.organizationId],
    );
    return id;
  }

  const options = async (target: string) => ({
    location: openDirectoryLocation(target),
    storage: await openFileStorage({ directory: join(original.dataDir, 'attachments'), s3: null }),
    version: '0.0.0',
    key: null,
    allowMissingFiles: false,
    report: () => undefined,
  });

  it('has all files of its snapshot: until it has copied them, none is deleted', async () => {
    const sessionId = await createSession(original);
    await storeSegment(sessionId);
    for (const name of ['a.txt', 'b.txt']) await uploadTo(original, original.organizationId, { name, content: name });
    const target = join(makeDirectory(), 'backup');
    const { location, ...others } = await options(target);
    const { services } = original.app;
    const deleted: number[] = [];
    let isFirst = true;
    const watched = {
      ...location,
      async put(name: string, content: Readable) {
        if (name.startsWith('files/') && isFirst) {
          isFirst = false;
          deleted.push(await deleteUnused(), await markUnusedSegments(services, [sessionId]));
          // Written after the snapshot.
          await uploadTo(original, original.organizationId, { name: 'late.txt', content: 'late' });
        }
        await location.put(name, content);
      },
    };
    const { files } = await withDatabaseSession(original, '', (session) =>
      createBackup(session, { ...others, location: watched }),
    );
    expect(deleted).toEqual([0, 0]);
    expect(files).toMatchObject({ count: 3, missing: 0 });
    expect(await deleteUnused()).toBe(3);
    expect(await markUnusedSegments(services, [sessionId])).toBe(1);
    expect((await readStoredFiles(original)).filter((path) => path.startsWith('attachments'))).toEqual([]);
  });

  it('is refused while another one is written', async () => {
    const target = join(makeDirectory(), 'backup');
    const first = await options(target);
    const second = await options(join(makeDirectory(), 'backup'));
    await uploadTo(original, original.organizationId, { name: 'a.txt', content: 'a' });
    const run = (each: typeof first) => withDatabaseSession(original, '', (session) => createBackup(session, each));
    // The other one has the same, still empty, directory, and must not remove what it did not write.
    const sameDirectory = await options(target);
    await sameDirectory.location.prepare();
    const alreadyPrepared = { ...sameDirectory.location, prepare: async () => undefined };
    const finish = async (name: string, content: Buffer) => {
      for (const each of [second, { ...sameDirectory, location: alreadyPrepared }])
        await expect(run(each)).rejects.toThrow('Another backup of this database is running.');
      await first.location.finish(name, content);
    };
    const manifest = await run({ ...first, location: { ...first.location, finish } });
    expect(manifest).toMatchObject({ files: { count: 1 } });
    await verifyBackup(first.location, manifest, () => undefined);
    expect(await run(second)).toMatchObject({ files: { count: 1 } });
  });

  it('fails if the connection that protects the files is lost, and leaves no backup', async () => {
    await uploadTo(original, original.organizationId, { name: 'a.txt', content: 'a' });
    const target = join(makeDirectory(), 'backup');
    const { location, ...others } = await options(target);
    const losing = {
      ...location,
      async put(name: string, content: Readable) {
        if (name.startsWith('files/')) {
          await original.app.services.store.execute(
            `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and mode = 'ExclusiveLock' and objid = 7309454
               and database = (select oid from pg_database where datname = current_database())`,
          );
        }
        await location.put(name, content);
      },
    };
    const running = withDatabaseSession(original, '', (session) =>
      createBackup(session, { ...others, location: losing }),
    );
    await expect(running).rejects.toThrow('The database has ended the connection of the backup. Try again.');
    expect(existsSync(join(target, 'manifest.json'))).toBe(false);
    expect(existsSync(join(target, 'tables'))).toBe(false);
  });

  it('is one snapshot: no session, entry or file is there by half', async () => {
    let isEnded = false;
    const errors: unknown[] = [];
    const work = async (step: (n: number) => Promise<unknown>) => {
      for (let n = 0; !isEnded; n++) await step(n).catch((error: unknown) => errors.push(error));
    };
    const first = await createSession(original);
    const writers = [
      work(async (n) => say(original, await createSession(original), `One ${n}`, `Two ${n}`)),
      work((n) => say(original, first, `More ${n}`)),
      work(async (n) => {
        await uploadTo(original, original.organizationId, { name: `${n}.txt`, content: `content ${n}` });
        if (n % 5 === 4) await deleteUnused();
      }),
      work(async () => {
        await storeSegment(first);
        await markUnusedSegments(original.app.services, [first]);
      }),
    ];
    const backups: string[] = [];
    for (let n = 0; n < 3; n++) backups.push(await backUp(original));
    isEnded = true;
    await Promise.all(writers);
    expect(errors).toEqual([]);
    const sizes = backups.map((backup) => manifestOf(backup).tables.find(({ name }) => name === 'session')?.rows ?? 0);
    expect(sizes.toSorted((a, b) => a - b)).toEqual(sizes);
    expect(sizes[2]).toBeGreaterThan(sizes[0] as number);

    const last = backups[2] as string;
    const embedded = { dataDir: makeDirectory(), databaseUrl: null };
    await restore(last, embedded);
    expect(contentOf(await backUp(embedded))).toEqual(contentOf(last));
    const store = await openStore({ ...embedded, log: quiet });
    onTestFinished(() => store.close());
    const torn = await store.query(
      `select h.session_id from session_head h left join lateral (
         select count(*)::int as entries, coalesce(max(seq), 0) as last from log_entry e where e.session_id = h.session_id) e on true
        where h.next_seq <> e.last + 1 or e.entries <> e.last or not exists (select 1 from session s where s.id = h.session_id)
           or not exists (select 1 from run r where r.session_id = h.session_id)`,
    );
    expect(torn).toEqual([]);
  });

  it('of an earlier schema is migrated after it was loaded', async () => {
    const id = await createSession(original, { prompt: 'say done' });
    const location = openDirectoryLocation(await backUp(original));
    const later = {
      name: '20990101000000_later',
      sql: `alter table session add column mood text; update session set mood = 'calm'`,
      checksum: 'a'.repeat(64),
    };
    const manifest = await readManifest(location);
    const migrations = [...(await readMigrations()), later];
    const target = { dataDir: makeDirectory(), databaseUrl: null };
    const report: string[] = [];
    await fillNewDatabase(target, (session) =>
      loadDatabase(session, { location, manifest, migrations, report: (text) => report.push(text) }),
    );
    expect(report).toContain('1 migrations of this version were applied.');
    const rows = await withDatabaseSession(target, '', (session) =>
      session.query(`select id, mood, changed_xid < next_transaction() as "isPast" from session`),
    );
    expect(rows).toEqual([{ id, mood: 'calm', isPast: true }]);
  });
});
