import { forgetRuns } from '../domain/automations/forget-runs.ts';
import { forgetRemovals } from '../domain/changes/forget-removals.ts';
import type { Services } from '../domain/context.ts';
import { pruneGitDeliveries } from '../domain/git-deliveries/prune-deliveries.ts';
import { forgetRegistrations } from '../domain/github-apps/registration-form.ts';
import { forgetIdempotencyKeys } from '../domain/idempotency.ts';
import { forgetDeviceAuthorizations } from '../domain/identity/device-authorizations/begin-authorization.ts';
import { forgetConsoleSessions } from '../domain/identity/keys/console-sessions.ts';
import { forgetSignInLinks } from '../domain/identity/sign-on/sign-in-links.ts';
import { forgetUsedValues } from '../domain/identity/sign-on/used-values.ts';
import { resealSecrets } from '../domain/library/secrets/reseal-secrets.ts';
import { deleteOldSessions } from '../domain/retention/delete-sessions.ts';
import { pruneAuditLogs } from '../domain/retention/prune-audit-log.ts';
import { deleteOldPagingSnapshots } from '../domain/sessions/paging-snapshots.ts';
import { pruneWebhooks } from '../domain/webhooks/prune-deliveries.ts';

/** Interval of the clean-up. */
const hourMs = 60 * 60 * 1_000;

/** A background job that runs until it is stopped. */
export interface Scheduled {
  start(): void;
  /** Resolves when the job has stopped completely. */
  stop(): Promise<void>;
}

/**
 * Deletes expired idempotency keys and paging snapshots, and sessions and audit entries whose retention time has ended, and maintains secrets. Several processes may do it at once:
 * they delete the same rows.
 */
export function createRetention(services: Services): Scheduled {
  return hourly(async (isStopped) => {
    await forgetIdempotencyKeys(services).catch((error: unknown) =>
      services.log.warn({ err: error }, 'Old idempotency keys could not be deleted.'),
    );
    await deleteOldPagingSnapshots(services).catch((error: unknown) =>
      services.log.warn({ err: error }, 'Expired list cursors could not be deleted.'),
    );
    await forgetConsoleSessions(services).catch((error: unknown) =>
      services.log.warn({ err: error }, 'Old sessions of the console could not be deleted.'),
    );
    await forgetSignInLinks(services).catch((error: unknown) =>
      services.log.warn({ err: error }, 'Old sign-in links could not be deleted.'),
    );
    await forgetDeviceAuthorizations(services).catch((error: unknown) =>
      services.log.warn({ err: error }, 'Old device authorizations could not be deleted.'),
    );
    await forgetUsedValues(services).catch((error: unknown) =>
      services.log.warn({ err: error }, 'Old sign-ins at identity providers could not be deleted.'),
    );
    await forgetRegistrations(services).catch((error: unknown) =>
      services.log.warn({ err: error }, 'Old registrations of GitHub Apps could not be deleted.'),
    );
    await pruneWebhooks(services, isStopped).catch((error: unknown) =>
      services.log.warn({ err: error }, 'Old webhook events could not be deleted.'),
    );
    await pruneGitDeliveries(services, isStopped).catch((error: unknown) =>
      services.log.warn({ err: error }, 'Old webhooks of forges could not be deleted.'),
    );
    await forgetRuns(services, isStopped).catch((error: unknown) =>
      services.log.warn({ err: error }, 'Old runs of automations could not be deleted.'),
    );
    await forgetRemovals(services, isStopped).catch((error: unknown) =>
      services.log.warn({ err: error }, 'Old records of deleted resources could not be removed.'),
    );
    await deleteOldSessions(services, isStopped).then(
      (count) => count > 0 && services.log.info({ count }, 'Sessions were deleted: their retention time had ended.'),
      (error: unknown) => services.log.warn({ err: error }, 'Old sessions could not be deleted.'),
    );
    await pruneAuditLogs(services, isStopped).then(
      (count) => count > 0 && services.log.info({ count }, 'Old entries of the audit log were deleted.'),
      (error: unknown) => services.log.warn({ err: error }, 'Old entries of the audit log could not be deleted.'),
    );
    await resealSecrets(services, isStopped).catch((error: unknown) =>
      services.log.warn({ err: error }, 'Expired secrets could not be deleted.'),
    );
  });
}

/** {@link repeated} once an hour. */
export function hourly(run: (isStopped: () => boolean) => Promise<void>): Scheduled {
  return repeated(hourMs, run);
}

/**
 * Runs a job at the start and then at intervals, one run at a time. `run` never rejects, and ends soon after
 * `isStopped()` becomes true.
 */
export function repeated(everyMs: number, run: (isStopped: () => boolean) => Promise<void>): Scheduled {
  let timer: NodeJS.Timeout | null = null;
  let isStopped = false;
  let running: Promise<void> | null = null;
  const sweep = () => {
    running ??= run(() => isStopped).finally(() => {
      running = null;
    });
  };
  return {
    start() {
      sweep();
      timer = setInterval(sweep, everyMs).unref();
    },
    async stop() {
      isStopped = true;
      if (timer) clearInterval(timer);
      timer = null;
      await running;
    },
  };
}
