import type { Transaction } from '../../../store/store.ts';
import { insertAuditEntry } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { newId } from '../../ids.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import type { PendingPush } from './session-repositories.ts';

/** Records refs of a push that is about to begin, by keys. False: this run has lost its session. */
export async function addPendingPushes(
  context: Context,
  { sessionId, generation }: ClaimedRun,
  repositoryId: string,
  pending: Readonly<Record<string, PendingPush>>,
): Promise<boolean> {
  const rows = await context.store.execute(
    `update session_repository r set pending_pushes = r.pending_pushes || $4::jsonb
       from session_head h
      where r.session_id = $1 and r.repository_id = $2 and h.session_id = r.session_id and h.generation = $3::int
      returning r.position`,
    [sessionId, repositoryId, generation, JSON.stringify(pending)],
  );
  return rows.length > 0;
}

/** Removes refs of pushes whose outcomes are in the log, by their keys. */
export async function removePendingPushes(
  tx: Transaction,
  { sessionId, repositoryId }: { readonly sessionId: string; readonly repositoryId: string },
  keys: readonly string[],
): Promise<void> {
  await tx.query(
    `update session_repository set pending_pushes = pending_pushes - $3::text[]
      where session_id = $1 and repository_id = $2 returning position`,
    [sessionId, repositoryId, keys],
  );
}

/** An accepted push. */
interface AcceptedPush {
  readonly sessionId: string;
  readonly repositoryId: string;
  readonly data: Readonly<Record<string, string | null>>;
}

/** Writes the audit entry of an accepted push. Its actor is the creator of the session. */
export async function auditPush(
  context: Pick<Context, 'now'>,
  tx: Transaction,
  { sessionId, repositoryId, data }: AcceptedPush,
): Promise<void> {
  await tx.query(
    `${insertAuditEntry}
     select $2, o.enterprise_id, s.organization_id, 'push_commits', s.user_id, s.service_user_id, null, null, s.id, $3,
            $4::jsonb, $5::timestamptz
       from session s join organization o on o.id = s.organization_id where s.id = $1`,
    [sessionId, newId(), repositoryId, JSON.stringify(data), context.now()],
  );
}
