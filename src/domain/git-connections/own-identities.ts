import { isForgeError } from '../../forges/interface/errors.ts';
import type { ForgeIdentity } from '../../forges/interface/forge.ts';
import type { Services } from '../context.ts';
import { openConnection } from './open-connection.ts';

/** An account that caused an event; null: the forge does not say. */
export interface EventSender {
  readonly id: string | null;
  readonly login: string | null;
}

/**
 * Tells if an account is one of a connection's enterprise at the same forge: what it does may be the work of a session. A
 * connection whose credential is refused does nothing, and does not count. Throws ForgeError if a forge does not answer.
 */
export async function isOwnAccount(services: Services, connectionId: string, sender: EventSender): Promise<boolean> {
  return isAmong(await readOwnIdentities(services, connectionId), sender);
}

/** Tells if an account is one of these identities. */
export function isAmong(identities: readonly ForgeIdentity[], { id, login }: EventSender): boolean {
  const name = login?.toLowerCase() ?? null;
  return identities.some((own) => own.id === id || (name !== null && own.login.toLowerCase() === name));
}

/** Returns the identities of the connections of a connection's enterprise at the same forge, as {@link isOwnAccount} does. */
export async function readOwnIdentities(services: Services, connectionId: string): Promise<ForgeIdentity[]> {
  const rows = await services.store.query<{ id: string }>(
    `select c.id from git_connection own
       join git_connection c on c.enterprise_id = own.enterprise_id and c.host_key = own.host_key
        and c.deleted_at is null and c.provider_type <> 'git_https'
      where own.id = $1 order by c.id limit 100`,
    [connectionId],
  );
  const found = await Promise.all(rows.map(({ id }) => readIdentity(services, id)));
  return found.filter((identity) => identity !== null);
}

async function readIdentity(services: Services, id: string): Promise<ForgeIdentity | null> {
  try {
    return await (await openConnection(services, id)).identity();
  } catch (error) {
    if (isForgeError(error, 'CREDENTIAL_REFUSED', 'INVALID_CONNECTION', 'MISSING_PERMISSION')) return null;
    throw error;
  }
}
