import { newId, parseId } from '../../src/domain/ids.ts';
import type { TestApp } from './app.ts';
import { say } from './sessions.ts';

/** Creates ended sessions, three with the same time every 2 ms, the first `agoMs` ago; returns unprefixed ids, newest first. */
export async function makeManySessions(
  test: TestApp,
  organizationId: string,
  count: number,
  agoMs: number = 3_600_000,
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId());
  await test.app.services.store.execute(
    `insert into session (id, organization_id, title, is_title_derived, status, origin, tags, prompt, created_at, updated_at)
     select i.id, $2, 'one of many', false, 'exit', 'api', '{}', 'x', $3::timestamptz + (i.n / 3) * interval '2 milliseconds', $3::timestamptz
       from unnest($1::text[]) with ordinality as i(id, n)`,
    [ids, parseId('organization', organizationId), new Date(Date.now() - agoMs)],
  );
  // Newest first; within a millisecond the greater id first.
  const rows = await test.app.services.store.query<{ id: string }>(
    'select id from session where id = any($1::text[]) order by created_at desc, id desc',
    [ids],
  );
  return rows.map(({ id }) => id);
}

/** Appends agent messages `m0`, `m1` … to a session's log. */
export async function sayMany(test: TestApp, sessionId: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += 500) {
    await say(test, sessionId, ...Array.from({ length: Math.min(500, count - from) }, (_, n) => `m${from + n}`));
  }
}
