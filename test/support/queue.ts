import type { Store } from '../../src/store/store.ts';

/** Sessions for the queue, copied from an existing session. */
export interface QueuedCopies {
  /** The session to copy. */
  readonly of: string;
  readonly organizationId: string;
  readonly principalId: string;
  readonly count: number;
  /** The prefix of the copies' ids; the rest is a number from 1. */
  readonly prefix: string;
  /** The queue time of the first one; each further one is a millisecond later. */
  readonly queuedAt: Date;
}

/** Puts many sessions into the queue with three statements. */
export async function seedQueue(store: Store, copies: QueuedCopies): Promise<void> {
  const { of, organizationId, principalId, count, prefix, queuedAt } = copies;
  await store.transact(async (tx) => {
    await tx.query(
      `insert into session select (jsonb_populate_record(s, jsonb_build_object('id', $2::text || n,
              'organization_id', $3::text))).* from session s, generate_series(1, $4::int) n where s.id = $1`,
      [of, prefix, organizationId, count],
    );
    await tx.query(`insert into session_head (session_id) select $1::text || n from generate_series(1, $2::int) n`, [
      prefix,
      count,
    ]);
    await tx.query(
      `insert into run (session_id, organization_id, principal_id, queued_at)
       select $1::text || n, $2, $3, $4::timestamptz + n * interval '1 millisecond' from generate_series(1, $5::int) n`,
      [prefix, organizationId, principalId, queuedAt, count],
    );
  });
}
