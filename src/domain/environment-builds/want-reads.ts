import type { Transaction } from '../../store/store.ts';
import type { Services } from '../context.ts';
import type { ArrivedEvent } from '../followed-pull-requests/want-reads.ts';

/** The time after a push until the environment is read, in ms: pushes often come in groups, and the newest counts. */
const afterPushMs = 10_000;
/** The time between two reads that no push causes, in ms. */
const pollMs = 15 * 60_000;
/** The time for which a result counts as in use after a session has used it, in ms. */
export const inUseMs: number = 14 * 24 * 60 * 60_000;
/** Maximum number of repositories that one poll adds. */
const maxPolled = 100;

/** SQL condition: the repository aliased `r` is set up in advance, and its result aliased `b` was used since the time `since`. */
const isInUse = (since: string) => `b.state = 'READY' and b.used_at > ${since}
  and coalesce(r.settings ->> 'isEnvironmentBuiltOnPush', 'true') <> 'false'`;

const want = `
  on conflict (organization_id, repository_id) do update
     set due_at = case when environment_read.due_at <= excluded.due_at then environment_read.due_at else excluded.due_at end`;

/** Marks the environments of repositories whose default branch was pushed for a read, in the organizations that use their results. */
export async function wantEnvironmentReads(tx: Transaction, events: readonly ArrivedEvent[], now: Date): Promise<void> {
  const pushes = events.flatMap(({ gitConnectionId, repositoryPath, event }) =>
    event.type === 'push' && event.after !== null && event.ref.startsWith('refs/heads/')
      ? [{ gitConnectionId, pathKey: repositoryPath.toLowerCase(), branch: event.ref.slice('refs/heads/'.length) }]
      : [],
  );
  if (pushes.length === 0) return;
  await tx.query(
    `insert into environment_read (organization_id, repository_id, due_at, created_at)
     select distinct b.organization_id, r.id, $2::timestamptz, $3::timestamptz
       from jsonb_to_recordset($1::jsonb) e("gitConnectionId" text, "pathKey" text, branch text)
       join git_connection own on own.id = e."gitConnectionId" and own.deleted_at is null
       join repository r on r.enterprise_id = own.enterprise_id and r.host = own.host_key and r.path_key = e."pathKey"
        and r.default_branch = e.branch
       join environment_build b on b.repository_id = r.id
       join organization o on o.id = b.organization_id and o.deleted_at is null
      where ${isInUse('$4::timestamptz')}
      order by 1, 2 ${want}`,
    [JSON.stringify(pushes), new Date(now.getTime() + afterPushMs), now, new Date(now.getTime() - inUseMs)],
  );
}

/** Marks the environments with results in use that were not read for 15 minutes for a read: not every forge sends webhooks. */
export async function pollEnvironments({ store, now }: Pick<Services, 'store' | 'now'>): Promise<void> {
  const at = now();
  const ago = (ms: number) => new Date(at.getTime() - ms);
  await store.execute(
    `insert into environment_read (organization_id, repository_id, due_at, created_at)
     select distinct b.organization_id, b.repository_id, $1::timestamptz, $1::timestamptz
       from environment_build b join repository r on r.id = b.repository_id
       join organization o on o.id = b.organization_id and o.deleted_at is null
       left join environment_read e on e.organization_id = b.organization_id and e.repository_id = b.repository_id
      where ${isInUse('$2::timestamptz')} and b.finished_at < $3::timestamptz and e.due_at is null and (e.read_at is null or e.read_at < $3::timestamptz)
      order by 1, 2 limit $4::int ${want}
     returning repository_id`,
    [at, ago(inUseMs), ago(pollMs), maxPolled],
  );
}

/** Returns the time when the next environment is due; null: there is none. */
export async function nextEnvironmentReadAt({ store }: Pick<Services, 'store'>): Promise<Date | null> {
  const [row] = await store.query<{ at: Date | null }>(
    'select min(due_at) as at from environment_read where due_at is not null',
  );
  return row?.at ?? null;
}
