import type { Transaction } from '../../store/store.ts';
import type { Services } from '../context.ts';

/** Reads the open pull requests of a repository of an enterprise soon, and applies what is read even if nothing has changed. */
export async function wantRepository(
  { now, notifier }: Pick<Services, 'now' | 'notifier'>,
  tx: Transaction,
  { enterpriseId, host, path }: { readonly enterpriseId: string; readonly host: string; readonly path: string },
): Promise<void> {
  await tx.query(
    `update followed_pull_request f set validator = null, due_at = least(f.due_at, $4::timestamptz)
       from git_connection c where c.id = f.git_connection_id and c.enterprise_id = $1 and c.host_key = $2
        and f.path_key = lower($3) and f.due_at is not null and not f.is_over`,
    [enterpriseId, host, path, now()],
  );
  tx.afterCommit(() => notifier.notify('pull-requests'));
}
