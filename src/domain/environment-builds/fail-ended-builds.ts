import type { Services } from '../context.ts';

// A worker writes the end of a build before its session leaves the queue. So one that is not in the queue has no worker.
const fail = `
  update environment_build b set state = 'FAILED', finished_at = $1::timestamptz, log = right(b.log || coalesce((
           select e.body from log_entry e where e.session_id = b.session_id and e.kind = 'ERROR' order by e.seq desc limit 1),
           'The session of the set-up was stopped.'), $2::int)
    from run r where r.session_id = b.session_id and r.queued_at is null and b.trigger <> 'SESSION' and b.state in ('QUEUED', 'BUILDING')
  returning b.id`;

/** Maximum number of characters of the log of a build. */
const maxLogCharacters = 60_000;

/** Records as failed the requested builds whose sessions ended without a result: by an error, a limit, or a user. */
export async function failEndedBuilds({ store, now }: Pick<Services, 'store' | 'now'>): Promise<void> {
  await store.execute(fail, [now(), maxLogCharacters]);
}
