import type { z } from 'zod';
import { requireConfirmation } from '../../auth/confirmation.ts';
import { permissionFor } from '../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../auth/viewer.ts';
import { RateLimitedError, refuse } from '../../common/errors.ts';
import { type ForgeErrorCode, isForgeError } from '../../forges/interface/errors.ts';
import type { ConnectionReport, Forge, ForgeKind } from '../../forges/interface/forge.ts';
import type { Context } from '../context.ts';
import { parseInput } from '../input.ts';
import { cleanPath } from '../repositories/parse-reference.ts';
import { auditConnection } from './change-git-connections.ts';
import { checkConnection, connectionAccessSchema } from './connection-input.ts';
import { type GitConnectionRecord, getGitConnection, type StoredReport } from './git-connections.ts';
import { openConnection, toForgeConnection } from './open-connection.ts';

/** The result of a test. */
export interface ConnectionCheck {
  /** True if the forge accepts the credential and no required ability is lacking. */
  readonly isOk: boolean;
  /** Null: the forge accepts the credential, and shows the repository of the test. */
  readonly code: ForgeErrorCode | null;
  /** Explains the result for people. */
  readonly message: string;
  /** Null: the forge does not accept the credential. */
  readonly report: StoredReport | null;
}

/** A connection that is not stored, in the form of an input. */
export type UnsavedConnection = {
  readonly [Name in keyof z.input<typeof connectionAccessSchema>]?: z.input<typeof connectionAccessSchema>[Name] | null;
};

/** Maximum number of requests of users to forges that a process has open at once. */
const maxOpen = 50;
let open = 0;

/** Counts a request that the viewer causes to a forge while it runs. Throws RATE_LIMITED beyond the limits. */
export async function requestForge<T>({ limits, viewer }: Context, run: () => Promise<T>): Promise<T> {
  const message = 'Too many requests to forges: wait and try again.';
  if (open >= maxOpen) throw new RateLimitedError(message, { resetSeconds: 10 });
  const spending = await limits.provider.spend(viewer.principal.id);
  if (spending && !spending.isAllowed) throw new RateLimitedError(message, spending);
  open += 1;
  try {
    return await run();
  } finally {
    open -= 1;
  }
}

/**
 * Reads the abilities of a stored connection and records the result. `repository`: the path of a repository to read too, which
 * plain git servers need. Changes nothing at the forge. Throws FORBIDDEN, INVALID_INPUT, NOT_FOUND, RATE_LIMITED.
 */
export async function checkStoredConnection(
  context: Context,
  id: string,
  repository: string | null | undefined,
): Promise<{ readonly test: ConnectionCheck; readonly gitConnection: GitConnectionRecord }> {
  requireEnterprisePermission(context.viewer, permissionFor.manageGitConnections);
  const seen = await getGitConnection(context, id);
  const path = parseInput(connectionAccessSchema.pick({ repositoryPath: true }), { repositoryPath: repository });
  requireRepository(seen.providerType, path.repositoryPath);
  const test = await runCheck(context, () => openConnection(context, seen.id), path.repositoryPath);
  const at = context.now().toISOString();
  const { code, message, report } = test;
  const lastTest = report === null ? seen.lastTest : { at, report };
  // Without access to one repository, the connection may still work for all others.
  const lastFailure = code === null || report !== null ? null : { code, message, at };
  await context.store.transact(async (tx) => {
    await tx.query(
      `update git_connection set last_test = $2::jsonb, last_failure = $3::jsonb
        where id = $1 and deleted_at is null returning id`,
      [seen.id, lastTest && JSON.stringify(lastTest), lastFailure && JSON.stringify(lastFailure)],
    );
    await auditConnection(context, tx, 'test_git_connection', seen, { isOk: test.isOk });
  });
  return { test, gitConnection: { ...seen, lastTest, lastFailure } };
}

/** Reads the abilities of a connection that is not stored, and stores nothing. Throws FORBIDDEN, INVALID_INPUT, RATE_LIMITED. */
export async function checkUnsavedConnection(context: Context, raw: UnsavedConnection): Promise<ConnectionCheck> {
  requireEnterprisePermission(context.viewer, permissionFor.manageGitConnections);
  const { token, privateKey, repositoryPath, ...input } = parseInput(connectionAccessSchema, raw);
  requireRepository(input.providerType, repositoryPath);
  requireConfirmation(context);
  const { username = null, appId = null, installationId = null } = input;
  const settings = { providerType: input.providerType, host: input.host, username, appId, installationId };
  const secrets = { ...(token != null && { token }), ...(privateKey != null && { privateKey }) };
  checkConnection(context, settings, secrets);
  return runCheck(context, async () => context.forges.open(toForgeConnection(settings, secrets)), repositoryPath);
}

// A plain git server has no request about an account alone, so without a repository there is nothing to test.
function requireRepository(kind: ForgeKind, path: string | null | undefined): void {
  const text = (path ?? '').trim();
  // Otherwise the test would pass for a repository that no session can name.
  if (text !== '' && cleanPath(text) === null)
    throw refuse(
      ['repositoryPath'],
      '"repositoryPath" must be the path of a repository with its owner or group: owner/name.',
    );
  if (kind !== 'git_https' || text !== '') return;
  const message =
    '"repositoryPath" must be given for connections of the type GIT_HTTPS: without one, nothing is tested.';
  throw refuse(['repositoryPath'], message);
}

async function runCheck(
  context: Context,
  openForge: () => Promise<Forge>,
  repository: string | null | undefined,
): Promise<ConnectionCheck> {
  return requestForge(context, async () => {
    try {
      const forge = await openForge();
      const found = await forge.testConnection(repository == null ? {} : { repository });
      const refusal = repository == null ? null : await readRepository(forge, repository);
      if (refusal !== null) return { isOk: false, ...refusal, report: toStored(found) };
      const missing = found.abilities.filter(({ isGranted, isRequired }) => isRequired && isGranted === false);
      const lacks = missing.map(({ permission }) => permission).join(', ');
      const message =
        missing.length === 0
          ? `${forge.host} accepts the connection.`
          : `${forge.host} accepts the connection, but it lacks permissions that sessions need: ${lacks}.`;
      return { isOk: missing.length === 0, code: null, message, report: toStored(found) };
    } catch (error) {
      if (!isForgeError(error)) throw error;
      return { isOk: false, code: error.code, message: error.message, report: null };
    }
  });
}

/** Reads a repository, and gets the credential that a clone of it needs. Returns the refusal of the forge; null: none. */
async function readRepository(forge: Forge, path: string): Promise<Pick<ConnectionCheck, 'code' | 'message'> | null> {
  try {
    // The test of a plain git server has read it.
    if (forge.kind !== 'git_https') await forge.getRepository(path);
    await forge.credentialFor(path, 'read');
    return null;
  } catch (error) {
    if (!isForgeError(error)) throw error;
    return { code: error.code, message: error.message };
  }
}

const toStored = (report: ConnectionReport): StoredReport => ({
  ...report,
  expiresAt: report.expiresAt?.toISOString() ?? null,
});
