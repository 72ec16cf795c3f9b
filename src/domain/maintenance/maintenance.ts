import { permissionFor } from '../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../auth/viewer.ts';
import { commandLine } from '../../common/command-line.ts';
import { DomainError } from '../../common/errors.ts';
import { audit } from '../audit/record-audit.ts';
import type { Context, Log, Services } from '../context.ts';
import type { Maintenance, MaintenanceMode, MaintenanceReason } from '../maintenance-mode.ts';

/** Interval at which a process in maintenance mode checks without a notification if the mode has ended. */
const pollMs = 5_000;

/** The mode in which a process starts. */
export interface MaintenanceStart {
  /** The value of MAINTENANCE. */
  readonly isConfigured: boolean;
  /** Recorded in the database, for all processes. */
  readonly maintenanceSince: Date | null;
}

/** A {@link Maintenance} that notices when the mode ends. */
export interface WatchedMaintenance extends Maintenance {
  /** Calls `onEnd` once, when the mode ends; at once if it is not on. */
  start(onEnd: () => Promise<void>): Promise<void>;
  /** Resolves when a running `onEnd` has finished. */
  stop(): Promise<void>;
}

/** Watches maintenance mode for a process. */
export function createMaintenance(
  { store, notifier, log, now }: Pick<Services, 'store' | 'notifier' | 'log' | 'now'>,
  { isConfigured, maintenanceSince }: MaintenanceStart,
): WatchedMaintenance {
  let mode: MaintenanceMode | null = null;
  if (maintenanceSince !== null) mode = { since: maintenanceSince, reason: 'COPIED_DATABASE' };
  if (isConfigured) mode = { since: now(), reason: 'CONFIGURED' };
  let isStopped = false;
  let checking: Promise<void> | null = null;
  let release: () => void = () => undefined;

  const check = async (onEnd: () => Promise<void>) => {
    const [row] = await store.query<{ since: Date | null }>('select maintenance_since as since from installation');
    if (row?.since !== null || isStopped || mode === null) return;
    release();
    mode = null;
    log.warn({}, 'Maintenance mode has ended: sessions, automations and webhooks run again.');
    await onEnd();
  };
  return {
    mode: () => mode,
    async start(onEnd) {
      if (mode === null) return onEnd();
      // A configured mode ends with the process.
      if (mode.reason === 'CONFIGURED') return;
      const poll = () => {
        checking ??= check(onEnd)
          .catch((error: unknown) => log.error({ err: error }, 'The end of maintenance mode could not be processed.'))
          .finally(() => {
            checking = null;
          });
      };
      const unsubscribe = notifier.subscribe('maintenance', poll);
      const timer = setInterval(poll, pollMs).unref();
      release = () => {
        unsubscribe();
        clearInterval(timer);
      };
    },
    async stop() {
      isStopped = true;
      release();
      await checking;
    },
  };
}

const howToEnd: Record<MaintenanceReason, string> = {
  CONFIGURED: 'MAINTENANCE=true is set. To work normally, start without it.',
  COPIED_DATABASE: `The database is a copy, and the original service may still be running. To work normally, run "${commandLine('maintenance', 'end')}", or start with MAINTENANCE=false.`,
};

/** Logs a warning that says why the process runs nothing and how to end that, if it is in maintenance mode. */
export function warnOfMaintenance(log: Pick<Log, 'warn'>, maintenance: Maintenance): void {
  const mode = maintenance.mode();
  if (mode !== null) log.warn({ since: mode.since }, `Maintenance mode: nothing is run. ${howToEnd[mode.reason]}`);
}

/**
 * Ends maintenance mode in every process, after a copied database was detected. Does nothing if it is off. FORBIDDEN;
 * INVALID_STATE in a process whose MAINTENANCE variable keeps it on.
 */
export async function endMaintenance(
  context: Pick<Context, 'store' | 'notifier' | 'viewer' | 'address' | 'now'> & { readonly maintenance?: Maintenance },
): Promise<void> {
  const { viewer, store, notifier, maintenance } = context;
  requireEnterprisePermission(viewer, permissionFor.endMaintenance);
  if (maintenance?.mode()?.reason === 'CONFIGURED') {
    throw new DomainError(
      'INVALID_STATE',
      'MAINTENANCE=true keeps this process in maintenance mode: start it without.',
    );
  }
  await store.transact(async (tx) => {
    const ended = await tx.query(
      'update installation set maintenance_since = null where maintenance_since is not null returning id',
    );
    if (ended.length === 0) return;
    const data = { changed: 'maintenance', isMaintenance: false };
    await audit(context, tx, 'update_enterprise_settings', {
      organizationId: null,
      targetId: viewer.enterpriseId,
      data,
    });
    tx.afterCommit(() => notifier.notify('maintenance'));
  });
}
