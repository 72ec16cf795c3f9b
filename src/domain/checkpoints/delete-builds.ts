import type { Services } from '../context.ts';

/** The time after which a result that no session has used is deleted. */
const unusedMs = 30 * 24 * 60 * 60_000;
/** The maximum number of results of a repository in an organization, and of set-ups without a result. */
const keptBuilds = 5;
/** Rows in one statement. */
const batchSize = 500;

// Their checkpoints are deleted later, with those of sessions.
const deleteUnused = `
  delete from environment_build b using (
    select r.id from (
      select x.id, x.used_at, row_number() over (
               partition by x.organization_id, x.repository_id, x.state = 'READY' order by x.used_at desc, x.created_at desc, x.id) as age
        from environment_build x where x.state in ('READY', 'FAILED') or x.used_at < $1::timestamptz) r
     where r.age > $2::int or r.used_at < $1::timestamptz limit $3) over
   where b.id = over.id returning b.id`;

const deleteOfOrganizations = `
  delete from environment_build b using organization o where o.id = b.organization_id and o.deleted_at is not null returning b.id`;

const deleteReadsOfOrganizations = `
  delete from environment_read e using organization o where o.id = e.organization_id and o.deleted_at is not null returning e.repository_id`;

/** Deletes the stored results of set-ups that sessions have not used for 30 days, all but five of a repository, the same of set-ups without a result, and those of deleted organizations, with the environments that were read for them. */
export async function deleteUnusedBuilds({ store, now }: Pick<Services, 'store' | 'now'>): Promise<void> {
  const before = new Date(now().getTime() - unusedMs);
  while ((await store.execute(deleteUnused, [before, keptBuilds, batchSize])).length === batchSize);
  await store.execute(deleteOfOrganizations);
  await store.execute(deleteReadsOfOrganizations);
}
