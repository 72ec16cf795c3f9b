import type { Transaction } from '../../../store/store.ts';

/** Skips the queued runs of an automation that was disabled or deleted. */
export async function skipQueuedRuns(tx: Transaction, automationId: string): Promise<void> {
  await tx.query(
    `update automation_run set status = 'skipped', addition = null, error_code = 'INVALID_STATE',
            error_message = 'The automation was disabled or deleted before a slot was free for it.'
      where automation_id = $1 and status = 'queued'`,
    [automationId],
  );
}
