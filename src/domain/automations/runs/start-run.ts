import { findOwnerViewer } from '../../../auth/owner-viewer.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import { requirePermission } from '../../../auth/viewer.ts';
import { DomainError, type ErrorCode } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import type { Context, Services } from '../../context.ts';
import { type Execution, executeActions } from '../actions/execute-actions.ts';
import { requireActionPermissions } from '../actions/require-permissions.ts';
import type { AutomationRecord } from '../model/automations.ts';
import { type AutomationRun, repositoryOf } from '../model/runs.ts';
import { type LockedAutomation, lockForRun, type RunCause } from './locked-automation.ts';
import { recordFailure, recordSuccess } from './record-outcome.ts';
import { checkRunLimits } from './run-limits.ts';
import { findRun, newRun, saveRun } from './run-store.ts';

/**
 * The only way to start a run: the run, its session or message, the decision of the limits and the automation's result
 * are one transaction. A known delivery key returns the first run and does nothing. A refusal is not an error: the run
 * is `failed` with a reason. A run that must wait for others is `queued`, one beyond a limit `skipped`. Locks the
 * automation. Also runs a disabled automation: the caller checks that. Throws NOT_FOUND for a deleted one. Any other
 * error rolls the transaction back.
 */
export async function lockAndStartRun(
  services: Services,
  tx: Transaction,
  { id }: Pick<AutomationRecord, 'id'>,
  cause: RunCause,
): Promise<AutomationRun> {
  return startRun(services, tx, await lockForRun(tx, id), cause);
}

/** {@link lockAndStartRun} for an automation that the caller has locked in this transaction and not changed since. */
export async function startRun(
  services: Services,
  tx: Transaction,
  locked: LockedAutomation,
  cause: RunCause,
): Promise<AutomationRun> {
  const existing = await findRun(tx, locked.automation.id, cause.deliveryKey);
  if (existing !== null && !(existing.status === 'failed' && cause.isRetry)) return existing;
  const { status, refusal } = cause.skip
    ? ({ status: 'skipped', refusal: { code: 'INVALID_STATE', message: cause.skip } } as const)
    : await checkRunLimits(tx, locked.automation, services.now());
  const run: AutomationRun = {
    ...(existing ?? newRun(services, locked, cause)),
    status,
    errorCode: refusal?.code ?? null,
    errorMessage: refusal?.message ?? null,
  };
  if (status === 'queued') tx.afterCommit(() => services.notifier.notify('automations'));
  if (status === 'started') return executeRun(services, tx, locked, run, cause.addition ?? null);
  return saveRun(services, tx, run, status === 'queued' ? (cause.addition ?? null) : null);
}

/** Records that a run ended with an unexpected error, in a later transaction. */
export async function recordCrash(
  services: Services,
  tx: Transaction,
  locked: LockedAutomation,
  cause: RunCause,
): Promise<void> {
  const existing = await findRun(tx, locked.automation.id, cause.deliveryKey);
  if (existing !== null && existing.status !== 'failed') return;
  const run = existing ?? newRun(services, locked, cause);
  await failRun(services, tx, locked, run);
}

/** Ends an attempt of a run after an unexpected error. */
export async function failRun(
  services: Services,
  tx: Transaction,
  locked: LockedAutomation,
  run: AutomationRun,
): Promise<void> {
  const failed: AutomationRun = {
    ...run,
    status: 'failed',
    attempts: run.attempts + 1,
    errorCode: 'INTERNAL',
    errorMessage: 'An internal error occurred.',
  };
  await recordFailure(services, tx, locked, failed);
  await saveRun(services, tx, failed, null);
}

/** Executes a run that the limits have allowed, and records its result. */
export async function executeRun(
  services: Services,
  tx: Transaction,
  locked: LockedAutomation,
  run: AutomationRun,
  addition: string | null,
): Promise<AutomationRun> {
  const outcome = await attempt(services, tx, locked, { addition, repository: repositoryOf(run.trigger) });
  const attempts = run.attempts + 1;
  if ('sessionId' in outcome) {
    await recordSuccess(services, tx, locked);
    const { sessionId } = outcome;
    const none = { errorCode: null, errorMessage: null };
    return saveRun(
      services,
      tx,
      { ...run, ...none, status: 'started', sessionId, attempts, startedAt: services.now() },
      null,
    );
  }
  const failed = {
    ...run,
    status: 'failed',
    attempts,
    errorCode: outcome.code,
    errorMessage: outcome.message,
  } as const;
  await recordFailure(services, tx, locked, failed);
  return saveRun(services, tx, failed, null);
}

/** The permissions of an organization's automations that no user owns. */
const ofOrganization = [permissionFor.createSession, permissionFor.sendMessage] as const;

async function attempt(
  services: Services,
  tx: Transaction,
  locked: LockedAutomation,
  event: Pick<Execution, 'addition' | 'repository'>,
): Promise<{ sessionId: string } | { code: ErrorCode; message: string }> {
  await tx.query('savepoint actions');
  try {
    const context = await asOwner(services, tx, locked);
    return { sessionId: await executeActions(context, tx, { ...locked, ...event }) };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    // The actions before the refusal are rolled back; the run and its failure stay.
    await tx.query('rollback to savepoint actions');
    return { code: error.code, message: error.message };
  }
}

// Uses the owner's current permissions, which may have changed since the automation was created.
async function asOwner(services: Services, tx: Transaction, locked: LockedAutomation): Promise<Context> {
  const { automation, isOrganizationGone } = locked;
  const { organizationId, runAsUserId: userId } = automation;
  if (isOrganizationGone) throw new DomainError('INVALID_STATE', 'The organization has been deleted.');
  const now = () => services.now();
  const viewer = await findOwnerViewer(
    { store: tx, now },
    { userId, serviceUserId: null, organizationId },
    ofOrganization,
  );
  if (viewer === null) {
    const gone =
      userId === null
        ? 'The organization has been deleted.'
        : 'The user that the automation runs as was deleted or deactivated.';
    throw new DomainError(userId === null ? 'INVALID_STATE' : 'FORBIDDEN', gone);
  }
  // The user of a schedule was chosen by a caller that may act as others, so the permission to start sessions suffices.
  const isCreator = userId !== null && automation.schedule === null;
  if (isCreator) requirePermission(viewer, permissionFor.runAutomationAsCreator, organizationId);
  requireActionPermissions(viewer, automation);
  // Not spread: the address in `url` fields is known only later.
  return Object.create(services, {
    viewer: { value: viewer, enumerable: true },
    address: { value: null, enumerable: true },
    automationId: { value: automation.id, enumerable: true },
  });
}
