import type { Workspaces } from '../../../agents/sandbox/workspaces.ts';
import type { Context } from '../../context.ts';

/**
 * Returns true if workspaces of unknown sessions may be deleted: the storage must belong to this database's enterprise.
 * A storage without an owner gets this one when it contains a session of the database, or no session at all.
 */
export async function isOwnStorage(
  { viewer }: Pick<Context, 'viewer'>,
  storage: Pick<Workspaces, 'readOwner' | 'recordOwner'>,
  { known, unknown }: { readonly known: number; readonly unknown: number },
): Promise<boolean> {
  const owner = await storage.readOwner();
  if (owner !== null) return owner === viewer.enterpriseId;
  if (known === 0 && unknown > 0) return false;
  await storage.recordOwner(viewer.enterpriseId);
  return true;
}
