import type { ForgeEvent } from '../../forges/interface/events.ts';
import type { Transaction } from '../../store/store.ts';
import type { Services } from '../context.ts';
import { targetsOf } from './event-targets.ts';
import { frequentMs, promptMs } from './read-schedule.ts';

/** An event of a repository that arrived at a git connection. */
export interface ArrivedEvent {
  /** The connection that it arrived at. */
  readonly gitConnectionId: string;
  readonly repositoryPath: string;
  readonly event: ForgeEvent;
}

/**
 * Marks the followed pull requests of these events for a read, one for all events until then. Events count for all connections
 * of the enterprise at the same forge, because a GitHub App with several installations has one address for its webhooks.
 */
export async function wantReads(tx: Transaction, events: readonly ArrivedEvent[], now: Date): Promise<void> {
  const rows = events.map(({ gitConnectionId, repositoryPath, event }) => ({
    ...{ gitConnectionId, pathKey: repositoryPath.toLowerCase() },
    ...targetsOf(event),
  }));
  await tx.query(
    `with wanted as (
       select f.id, min(case when e.pace = 'now' then $2::timestamptz
                             else greatest($2::timestamptz, f.read_at + interval '1 ms' * case
                               when e.pace = 'prompt' or e.pace = 'ended' and f.is_failing then $4::int else $3::int end) end) as at
         from jsonb_to_recordset($1::jsonb) e("gitConnectionId" text, "pathKey" text, numbers jsonb, commits jsonb,
              "headBranches" jsonb, "baseBranches" jsonb, pace text)
         join git_connection own on own.id = e."gitConnectionId" and own.deleted_at is null
         join git_connection c on c.enterprise_id = own.enterprise_id and c.host_key = own.host_key and c.deleted_at is null
         join followed_pull_request f on f.git_connection_id = c.id and f.path_key = e."pathKey"
        where e.numbers @> to_jsonb(f.number)
           or f.due_at is not null and (e.commits @> to_jsonb(f.head_commit) or e."headBranches" @> to_jsonb(f.head_branch)
              or e."baseBranches" @> to_jsonb(f.base_branch))
        group by f.id)
     update followed_pull_request f
        set wanted_at = least(f.wanted_at, w.at), due_at = least(f.due_at, w.at), webhook_at = $2::timestamptz
       from wanted w where f.id = w.id`,
    [JSON.stringify(rows), now, frequentMs, promptMs],
  );
}

/** Reads the pull request of a session soon, and applies what is read even if nothing has changed. */
export async function wantPullRequest(
  { now, notifier }: Pick<Services, 'now' | 'notifier'>,
  tx: Transaction,
  sessionId: string,
  url: string,
): Promise<void> {
  await tx.query(
    `update followed_pull_request f set validator = null, due_at = $3::timestamptz, wanted_at = least(f.wanted_at, $3::timestamptz)
       from following_session l where l.followed_pull_request_id = f.id and l.session_id = $1 and l.url = $2 and not f.is_over`,
    [sessionId, url, now()],
  );
  tx.afterCommit(() => notifier.notify('pull-requests'));
}
