import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import type { Context } from '../../context.ts';

/** A worker process of the installation. */
export interface WorkerRecord {
  readonly workerId: string;
  readonly host: string;
  /** Sessions that it leases: those with a turn, and those whose agent is kept warm. */
  readonly activeSessions: number;
  /** The time since which it claims nothing; null: it works. */
  readonly drainRequestedAt: Date | null;
  /** True if it has reported within the last minute or so, or leases sessions. */
  readonly isAlive: boolean;
}

/** Maximum number of workers that are listed. */
const maxWorkers = 100;

// A worker that has stopped is listed for a day, in case it is expected back.
const readRows = `
  select w.id as "workerId", w.host, w.drain_requested_at as "drainRequestedAt",
         coalesce(w.expires_at > now() or w.seen_at > now() - interval '75 seconds', false) as "isAlive",
         (select count(*)::int from lease l where l.worker_id = w.id and l.expires_at > now()) as "activeSessions"
    from worker w where w.enterprise_id = $1 and ($2::text is null or w.id = $2)
     and greatest(w.expires_at, w.seen_at, w.drain_requested_at) > now() - interval '1 day'
   order by w.host, w.id limit $3`;

/** Lists the workers of the installation, at most 100. FORBIDDEN. */
export async function listWorkers(context: Context): Promise<WorkerRecord[]> {
  requireEnterprisePermission(context.viewer, permissionFor.viewWorkers);
  return readWorkers(context, null);
}

/** {@link listWorkers} without a check of permissions, for one worker or for all. */
export function readWorkers({ store, viewer }: Context, workerId: string | null): Promise<WorkerRecord[]> {
  return store.query<WorkerRecord>(readRows, [viewer.enterpriseId, workerId, maxWorkers]);
}
