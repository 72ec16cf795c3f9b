import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import { notFound } from '../../../common/errors.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { readWorkers, type WorkerRecord } from './list-workers.ts';

/** The worker to drain, or to let work again. */
export interface DrainInput {
  readonly workerId: string;
  readonly isDrained: boolean;
}

/**
 * Drains a worker: it claims no session any more, interrupts its turns and hands its sessions over. Or lets it work again. The
 * request is kept until it is revoked, also over restarts. Does nothing if the worker is drained, or works, already. NOT_FOUND;
 * FORBIDDEN.
 */
export async function drainWorker(context: Context, { workerId, isDrained }: DrainInput): Promise<WorkerRecord> {
  const { viewer, store, notifier } = context;
  requireEnterprisePermission(viewer, permissionFor.changeWorkers);
  const [before] = await readWorkers(context, workerId);
  if (before === undefined) throw notFound('worker');
  if ((before.drainRequestedAt !== null) === isDrained) return before;
  await store.transact(async (tx) => {
    await audit(context, tx, 'update_enterprise_settings', {
      organizationId: null,
      targetId: viewer.enterpriseId,
      data: { setting: 'workers', act: isDrained ? 'drain' : 'undrain', worker: workerId, host: before.host },
    });
    await tx.query(
      'update worker set drain_requested_at = case when $3::boolean then $4::timestamptz end where id = $1 and enterprise_id = $2',
      [workerId, viewer.enterpriseId, isDrained, context.now()],
    );
    tx.afterCommit(() => {
      notifier.notify('workers');
      notifier.notify('runs');
    });
  });
  const [after] = await readWorkers(context, workerId);
  if (after === undefined) throw notFound('worker');
  return after;
}
