import { DomainError } from '../../../common/errors.ts';
import type { Services } from '../../context.ts';

/**
 * Assigns the workspaces of former workers, of which a worker's data directory has copies, to this worker. Returns the
 * number of sessions. Throws INVALID_STATE while a former worker leases a session.
 */
export async function adoptWorkspaces(
  { store }: Pick<Services, 'store'>,
  workerId: string,
  formerIds: readonly string[],
): Promise<number> {
  return store.transact(async (tx) => {
    const adopted = await tx.query(
      'update run set home_worker_id = $1 where home_worker_id = any($2::text[]) returning session_id',
      [workerId, formerIds],
    );
    const leases = await tx.query(
      'select 1 from lease where worker_id = any($1::text[]) and expires_at > now() limit 1',
      [formerIds],
    );
    if (leases.length > 0) throw new DomainError('INVALID_STATE', 'The original worker is running. Stop it first.');
    return adopted.length;
  });
}
