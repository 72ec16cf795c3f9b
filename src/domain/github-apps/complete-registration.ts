import { z } from 'zod';
import { requireConfirmation } from '../../auth/confirmation.ts';
import { permissionFor } from '../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../auth/viewer.ts';
import { refuse } from '../../common/errors.ts';
import { isForgeError } from '../../forges/interface/errors.ts';
import type { Transaction } from '../../store/store.ts';
import type { Context } from '../context.ts';
import { createRecord, insertConnection } from '../git-connections/change-git-connections.ts';
import { requestForge } from '../git-connections/check-connection.ts';
import type { GitConnectionRecord } from '../git-connections/git-connections.ts';
import { lockScope } from '../identity/organizations/scope.ts';
import { parseInput, text } from '../input.ts';
import { forgeFailure } from '../open-pull-requests/failures.ts';
import { stateSyntax } from './registration-form.ts';

/** The values with which GitHub sends the browser back. */
export const completeRegistrationSchema = z.object({
  code: text('code', { min: 8, max: 200 }).refine((code) => /^[\w-]*$/.test(code), {
    error: '"code" must be the code that GitHub sent.',
  }),
  state: text('state', { max: 200 }),
});

/** A GitHub App that is stored as a connection. */
export interface CompletedRegistration {
  readonly gitConnection: GitConnectionRecord;
  /** The page of GitHub that installs the App. */
  readonly installationUrl: string;
}

interface Registration {
  readonly id: string;
  readonly name: string;
  readonly host: string;
}

/**
 * Exchanges the code of GitHub for the App and stores it as a git connection. The state counts once, for an hour, for the key that it
 * was made for; if GitHub does not answer, it counts again. Throws FORBIDDEN, CONFIRMATION_REQUIRED, INVALID_INPUT for any other
 * state, INVALID_STATE with the reason of GitHub, LIMIT_EXCEEDED, RATE_LIMITED.
 */
export async function completeGithubAppRegistration(
  context: Context,
  raw: z.input<typeof completeRegistrationSchema>,
): Promise<CompletedRegistration> {
  requireEnterprisePermission(context.viewer, permissionFor.manageGitConnections);
  const { code, state } = parseInput(completeRegistrationSchema, raw);
  requireConfirmation(context);
  const { store, forges } = context;
  const { registration, app } = await requestForge(context, async () => {
    const used = await useState(context, state);
    try {
      return { registration: used, app: await forges.githubApps(used.host).convert(code) };
    } catch (error) {
      const isUnanswered = isForgeError(error, 'UNREACHABLE', 'RATE_LIMITED');
      await store.execute(
        isUnanswered
          ? 'update github_app_registration set used_at = null where id = $1 returning id'
          : 'delete from github_app_registration where id = $1 returning id',
        [used.id],
      );
      if (!isForgeError(error)) throw error;
      throw forgeFailure(error, isUnanswered ? 'Try again in a moment.' : 'Delete the App at GitHub and start again.');
    }
  });
  const { appId, privateKey, webhookSecret } = app;
  const { id, host } = registration;
  const { enterpriseId } = context.viewer;
  const gitConnection = await store.transact(async (tx) => {
    await lockScope(tx, { enterpriseId, organizationId: null });
    const name = await freeName(tx, enterpriseId, registration.name);
    const settings = { providerType: 'github_app', host, username: null, appId, installationId: null } as const;
    const secrets = { privateKey, ...(webhookSecret !== null && { webhookSecret }) };
    await tx.query('delete from github_app_registration where id = $1 returning id', [id]);
    return insertConnection(context, tx, createRecord(context, id, name, settings, secrets));
  });
  return { gitConnection, installationUrl: app.installationUrl };
}

// Another connection may have got the name in the meantime, and the key of the App can be read only once.
async function freeName(tx: Transaction, enterpriseId: string, wanted: string): Promise<string> {
  const rows = await tx.query<{ name: string }>(
    'select lower(name) as name from git_connection where enterprise_id = $1 and deleted_at is null',
    [enterpriseId],
  );
  const taken = new Set(rows.map(({ name }) => name));
  let name = wanted;
  for (let n = 2; taken.has(name.toLowerCase()); n++) name = `${wanted.slice(0, 90).trimEnd()} ${n}`;
  return name;
}

// One statement: of two concurrent calls, only one finds the state unused.
async function useState({ store, keyring, viewer, now }: Context, state: string): Promise<Registration> {
  const [found] = stateSyntax.test(state)
    ? await store.execute<Registration>(
        `update github_app_registration set used_at = $4::timestamptz
          where state_hash = any($1) and enterprise_id = $2 and api_key_id = $3 and used_at is null
            and expires_at > $4::timestamptz
        returning id, name, host`,
        [keyring.tokenHashes(state), viewer.enterpriseId, viewer.apiKeyId ?? viewer.consoleSessionId, now()],
      )
    : [];
  if (found) return found;
  const message =
    '"state" must be from a registration that you began with the same key within the last hour, and must be unused. Create the App again.';
  throw refuse(['state'], message);
}
