import { notFound } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import { columnsOf, type Field } from '../../../store/tables.ts';
import { newId } from '../../ids.ts';

/** The consumption of a session since it was last metered. */
export interface UsageEntry {
  /** Unprefixed id. */
  readonly sessionId: string;
  /** Above 0; stored to a millionth. */
  readonly acus: number;
  /** The time of use, which determines its day and its cycle. */
  readonly usedAt: Date;
}

/** Maximum of one entry: far above any session, far below the sums that lose their millionths. */
const maxAcus = 1_000_000;

/** The fields of a session that an entry of the ledger repeats. */
export const chargedFields = [
  'organizationId',
  'userId',
  'serviceUserId',
  'serviceKeyId',
  'playbookId',
] as const satisfies readonly (Field<'Session'> & Field<'Usage'>)[];

// One statement: the entry, and the session's own sum. Decimal arithmetic, so that every grouping gives the same sum.
const append = `
  with used as (
    update session s set acus_consumed = round(s.acus_consumed::numeric + $2::numeric, 6)::float8
     where s.id = $1
    returning s.id, s.acus_consumed, ${columnsOf('Session', chargedFields, 's')}),
  entry as (
    insert into usage (id, enterprise_id, session_id, acus, used_at, ${columnsOf('Usage', chargedFields)})
    select $3, o.enterprise_id, used.id, $2::float8, $4::timestamptz, ${columnsOf('Session', chargedFields, 'used')}
      from used join organization o on o.id = used.organization_id
    returning id)
  select used.acus_consumed as acus from used, entry`;

/**
 * Appends to the ledger of ACUs and updates the session's own sum: the only writer of both. Returns the session's
 * total. Throws NOT_FOUND if there is no such session; an invalid amount is a programming error.
 */
export async function recordUsage(tx: Transaction, { sessionId, acus, usedAt }: UsageEntry): Promise<number> {
  const rounded = Math.round(acus * 1_000_000) / 1_000_000;
  if (!(rounded > 0 && rounded <= maxAcus)) {
    throw new RangeError(`The ACUs of an entry must be above 0 and at most ${maxAcus}, but were ${acus}.`);
  }
  const [session] = await tx.query<{ acus: number }>(append, [sessionId, rounded, newId(), usedAt]);
  if (!session) throw notFound('session');
  return session.acus;
}
