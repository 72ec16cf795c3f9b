import { requireConfirmation } from '../../auth/confirmation.ts';
import { permissionFor } from '../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../auth/viewer.ts';
import { DomainError, refuse } from '../../common/errors.ts';
import { changedBy } from '../authors.ts';
import type { Context } from '../context.ts';
import {
  auditConnection,
  lockConnection,
  readSecrets,
  writeConnection,
} from '../git-connections/change-git-connections.ts';
import { requestForge } from '../git-connections/check-connection.ts';
import { gitConnectionSchema } from '../git-connections/connection-input.ts';
import { type GitConnectionRecord, getGitConnection } from '../git-connections/git-connections.ts';
import { parseInput } from '../input.ts';
import { asDomainError } from '../open-pull-requests/failures.ts';

/** The installation that GitHub names when it sends the browser back. Anybody can name another one. */
export const completeInstallationSchema = gitConnectionSchema.pick({ installationId: true });

/**
 * Records the installation of a GitHub App in its connection. GitHub confirms with the credential of the App that the installation is one of
 * this App; without an id, the only installation is looked up. A connection that has another installation keeps it. Throws FORBIDDEN,
 * NOT_FOUND, CONFIRMATION_REQUIRED, INVALID_INPUT for another kind of connection, INVALID_STATE with the reason of GitHub or if there is
 * another installation, RATE_LIMITED.
 */
export async function completeGithubAppInstallation(
  context: Context,
  id: string,
  entered: string | null | undefined,
): Promise<GitConnectionRecord> {
  requireEnterprisePermission(context.viewer, permissionFor.manageGitConnections);
  const seen = await getGitConnection(context, id);
  const { installationId = null } = parseInput(completeInstallationSchema, { installationId: entered });
  const { providerType, appId, host } = seen;
  if (providerType !== 'github_app' || appId === null) {
    throw refuse(['gitConnectionId'], '"gitConnectionId" must be a connection of the type github_app.');
  }
  requireConfirmation(context);
  const { store, forges } = context;
  const found = await requestForge(context, () =>
    asDomainError(async () => {
      const { privateKey = '' } = await store.transact((tx) => readSecrets(context, tx, seen));
      return forges.githubApps(host).readInstallation({ appId, privateKey }, installationId);
    }),
  );
  return store.transact(async (tx) => {
    const before = await lockConnection(tx, seen.enterpriseId, seen.id);
    if (before.installationId === found.id) return before;
    if (before.installationId !== null || before.appId !== appId || before.host !== host) {
      const message =
        'The connection was given another installation or App in the meantime. Change its "installationId" to use this one.';
      throw new DomainError('INVALID_STATE', message);
    }
    const change = { installationId: found.id, ...changedBy(context, before) };
    await writeConnection(tx, before.id, change);
    const after = { ...before, ...change };
    await auditConnection(context, tx, 'update_git_connection', after, { changed: 'installationId' });
    return after;
  });
}
