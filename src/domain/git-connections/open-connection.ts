import { causedBy, ForgeError } from '../../forges/interface/errors.ts';
import type { Forge, ForgeKind } from '../../forges/interface/forge.ts';
import type { ForgeConnection } from '../../forges/support/connection.ts';
import type { Services } from '../context.ts';

/** The secrets of a connection, as they are sealed. `token` is the password of a git server. */
export interface ConnectionSecrets {
  readonly token?: string | undefined;
  readonly privateKey?: string | undefined;
  readonly webhookSecret?: string | undefined;
}

/** The settings of a connection that are not secret. */
export interface ConnectionSettings {
  readonly providerType: ForgeKind;
  readonly host: string;
  readonly username: string | null;
  readonly appId: string | null;
  readonly installationId: string | null;
}

/** Returns the associated data of a connection's sealed secrets, which binds them to the connection. */
export const connectionAssociatedData = (enterpriseId: string, connectionId: string): string =>
  `${enterpriseId}:${connectionId}`;

/** Returns a connection as `src/forges/` takes it. A missing secret is an empty text, which forges refuse. */
export function toForgeConnection(settings: ConnectionSettings, secrets: ConnectionSecrets): ForgeConnection {
  const { providerType: kind, host, username, appId, installationId } = settings;
  const { token = '', privateKey = '', webhookSecret = null } = secrets;
  if (kind === 'git_https') return { kind, host, username, password: secrets.token ?? null };
  if (kind !== 'github_app') return { kind, host, token, webhookSecret };
  return { kind, host, appId: appId ?? '', privateKey, installationId, webhookSecret };
}

/**
 * Opens a stored connection by its unprefixed id, for the service itself: it checks no permission and makes no request.
 * Throws ForgeError: INVALID_CONNECTION for a deleted connection and for settings that are no longer allowed,
 * CREDENTIAL_REFUSED for a credential that cannot be decrypted.
 */
export async function openConnection(
  { store, keyring, forges }: Pick<Services, 'store' | 'keyring' | 'forges'>,
  connectionId: string,
): Promise<Forge> {
  const [row] = await store.query<ConnectionSettings & { enterpriseId: string; sealed: string | null }>(
    `select enterprise_id as "enterpriseId", provider_type as "providerType", host, username, app_id as "appId",
        installation_id as "installationId", sealed
       from git_connection where id = $1 and deleted_at is null`,
    [connectionId],
  );
  if (!row) throw new ForgeError('INVALID_CONNECTION', 'The git connection was deleted.');
  const { enterpriseId, sealed, ...settings } = row;
  const secrets =
    sealed === null ? {} : openSecrets({ keyring }, sealed, connectionAssociatedData(enterpriseId, connectionId));
  return forges.open(toForgeConnection(settings, secrets));
}

/** Decrypts the secrets of a connection. Throws ForgeError CREDENTIAL_REFUSED. */
export function openSecrets(
  { keyring }: Pick<Services, 'keyring'>,
  sealed: string,
  associatedData: string,
): ConnectionSecrets {
  try {
    return JSON.parse(keyring.open(sealed, associatedData)) as ConnectionSecrets;
  } catch (cause) {
    const message =
      'The credential of the git connection cannot be decrypted with the present SECRET_KEY. Enter it again.';
    throw causedBy(cause, 'CREDENTIAL_REFUSED', message);
  }
}
