import { mayGiveUpFiles } from '../../../store/file-deletions.ts';
import type { Services } from '../../context.ts';
import { isAttachmentHeld } from '../../legal-holds/held.ts';

/** Retention time of an attachment that no session uses. */
const unusedLifetimeMs = 30 * 24 * 60 * 60_000;
/** Age after which an unfinished file is taken for the remains of a crash: no upload lasts so long. */
const unfinishedMs = 60 * 60_000;
/** Number of attachments that are read at once. */
const batchSize = 200;

/** The services of the clean-up. */
type SweepServices = Pick<Services, 'store' | 'files' | 'now' | 'retention'>;

// $1: the end of the time in which an upload may be used; $2: that of the retention time, null: none. A session that goes on, or may go on
// without a message, needs its attachments.
const isUnusable = `not ${isAttachmentHeld} and (
  (a.session_id is null and a.created_at < $1::timestamptz) or o.deleted_at is not null
  or exists (select 1 from deleted_session d where d.session_id = a.session_id)
  or (a.created_at < $2::timestamptz and not exists (
        select 1 from session s where s.id = a.session_id and s.status not in ('exit', 'error') and not s.is_archived)))`;

/**
 * Deletes attachments that nobody can use any more: those that no session has used within 30 days, those whose retention time has ended, those of deleted
 * organizations and sessions, and files that a crash of this process left without their row. Returns the number of deleted files.
 * May run in several processes at once. While a backup copies files, no attachment is deleted, and none that a legal hold covers.
 */
export async function deleteOrphanedAttachments(services: SweepServices, isStopped: () => boolean): Promise<number> {
  return (await deleteUnused(services, isStopped)) + (await deleteUnfinished(services, isStopped));
}

async function deleteUnused(services: SweepServices, isStopped: () => boolean): Promise<number> {
  let count = 0;
  for (;;) {
    const batch = await deleteUnusedBatch(services, isStopped);
    count += batch.deleted;
    if (batch.read < batchSize || isStopped()) return count;
  }
}

async function deleteUnusedBatch(
  services: SweepServices,
  isStopped: () => boolean,
): Promise<{ read: number; deleted: number }> {
  const { store, files } = services;
  const { attachmentMs } = services.retention;
  const before = (ms: number | null) => (ms === null ? null : new Date(services.now().getTime() - ms));
  const times = [before(unusedLifetimeMs), before(attachmentMs)];
  const rows = await store.query<{ id: string; storageKey: string }>(
    `select a.id, a.storage_key as "storageKey" from attachment a join organization o on o.id = a.organization_id
      where ${isUnusable} order by a.created_at, a.id limit $3`,
    [...times, batchSize],
  );
  let deleted = 0;
  for (const { id, storageKey } of rows) {
    if (isStopped()) break;
    const fileId = storageKey.slice(storageKey.lastIndexOf('/') + 1);
    // Recorded first, so that the next clean-up deletes the file if a crash occurs after its row is deleted.
    await files.unsettle(fileId);
    const [done] = await store.execute<{ isFree: boolean }>(
      `with free as materialized (select ${mayGiveUpFiles} as is_free), gone as (
         delete from attachment a using organization o, free
          where free.is_free and a.id = $3 and o.id = a.organization_id and ${isUnusable})
       select is_free as "isFree" from free`,
      [...times, id],
    );
    deleted += await discardUnlessUsed(services, fileId, storageKey);
    // The next clean-up goes on.
    if (done?.isFree !== true) return { read: 0, deleted };
  }
  return { read: rows.length, deleted };
}

async function deleteUnfinished(services: SweepServices, isStopped: () => boolean): Promise<number> {
  let count = 0;
  for (const fileId of await services.files.unsettled(unfinishedMs)) {
    if (isStopped()) break;
    count += await discardUnlessUsed(services, fileId, services.files.keyOf(fileId));
  }
  return count;
}

// Several sessions may share a file.
async function discardUnlessUsed({ store, files }: SweepServices, fileId: string, storageKey: string): Promise<number> {
  const used = await store.query('select 1 from attachment where storage_key = $1 limit 1', [storageKey]);
  if (used.length > 0) {
    await files.settle(fileId);
    return 0;
  }
  await files.discard(fileId);
  return 1;
}
