import { permissionFor } from '../../auth/permissions.ts';
import { isForgeError } from '../../forges/interface/errors.ts';
import type { Context } from '../context.ts';
import { requireUsable } from '../identity/organizations/use-organization.ts';
import { findUsableConnection } from '../repositories/resolve-repositories.ts';
import { requestForge } from './check-connection.ts';
import { keepAnswers } from './kept-answers.ts';
import { openConnection } from './open-connection.ts';

/** The result of {@link checkRepository}. */
export interface RepositoryCheck {
  /** The host of its connection; null: the organization may not use a repository of this name. */
  readonly host: string | null;
  /** True if the connection can read it; null: unknown, because the forge did not say. */
  readonly isReadable: boolean | null;
}

const kept = keepAnswers<boolean | null>();

/**
 * Checks at the forge if an organization, by its unprefixed id, can read the repository of a reference as a new session would, and keeps the
 * answer for 60 seconds in this process. Nothing is stored. Who may start sessions may ask: a session would tell the same.
 * Throws ORGANIZATION_NOT_USABLE, FORBIDDEN, RATE_LIMITED.
 */
export async function checkRepository(
  context: Context,
  organizationId: string,
  reference: string,
): Promise<RepositoryCheck> {
  requireUsable(context, organizationId, permissionFor.createSession);
  const found = await findUsableConnection(context.store, { organizationId, reference });
  if (found === null) return { host: null, isReadable: false };
  const { connectionId, host, path } = found;
  const [connection] = await context.store.query<{ version: number }>(
    'select version from git_connection where id = $1',
    [connectionId],
  );
  const key = JSON.stringify([connectionId, connection?.version, path]);
  const isReadable = await kept.find(context, key, () =>
    requestForge(context, () => isFound(context, connectionId, path)),
  );
  return { host, isReadable };
}

async function isFound(context: Context, connectionId: string, path: string): Promise<boolean | null> {
  try {
    const forge = await openConnection(context, connectionId);
    await forge.getRepository(path);
    return true;
  } catch (error) {
    if (!isForgeError(error)) throw error;
    return error.code === 'NOT_FOUND' ? false : null;
  }
}
