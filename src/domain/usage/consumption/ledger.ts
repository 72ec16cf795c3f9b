import type { Transaction } from '../../../store/store.ts';
import { notFound } from '../../errors.ts';
import { newId } from '../../ids.ts';

/** What a session has used since it was last metered. */
export interface UsageEntry {
  /** Bare. */
  readonly sessionId: string;
  /** Above 0; kept to a millionth. */
  readonly acus: number;
  /** When it was used: what decides its day and its cycle. */
  readonly usedAt: Date;
}

/** The most that one entry may say: far above any session, far below where sums lose their millionths. */
const maxAcus = 1_000_000;

// One statement: the entry, and the session's own sum. Decimal arithmetic, so that every way of adding up gives the same.
const append = `
  with used as (
    update session s set acus_consumed = round(s.acus_consumed::numeric + $2::numeric, 6)::float8
     where s.id = $1
    returning s.id, s.organization_id, s.user_id, s.service_user_id, s.service_key_id, s.playbook_id, s.acus_consumed),
  entry as (
    insert into usage (id, enterprise_id, organization_id, session_id, user_id, service_user_id, service_key_id, playbook_id,
                       acus, used_at)
    select $3, o.enterprise_id, used.organization_id, used.id, used.user_id, used.service_user_id, used.service_key_id,
           used.playbook_id, $2::float8, $4::timestamptz
      from used join organization o on o.id = used.organization_id
    returning id)
  select used.acus_consumed as acus from used, entry`;

/**
 * Appends to the ledger of ACUs and moves the session's own sum with it: the only writer of both. Gives what the session
 * has used in all. NOT_FOUND for no session; an amount that is none is the caller's error.
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
