import type { z } from 'zod';
import { requireConfirmation } from '../../auth/confirmation.ts';
import { permissionFor } from '../../auth/permissions.ts';
import { newConsoleCode } from '../../auth/tokens.ts';
import { requireEnterprisePermission } from '../../auth/viewer.ts';
import { DomainError } from '../../common/errors.ts';
import { insertStatement } from '../../store/tables.ts';
import type { Context } from '../context.ts';
import { requireFreeName, requireRoom } from '../git-connections/change-git-connections.ts';
import { gitConnectionSchema, orRefuse } from '../git-connections/connection-input.ts';
import { lockScope } from '../identity/organizations/scope.ts';
import { newId } from '../ids.ts';
import { parseInput, text } from '../input.ts';

/** Time in which GitHub accepts the steps of the flow. */
export const registrationMs = 60 * 60 * 1_000;
/** Maximum number of registrations of an enterprise that are under way: a further one ends the oldest. */
const maxOpen = 50;

/** The values of a new registration. */
export const beginRegistrationSchema = gitConnectionSchema.pick({ name: true, host: true }).extend({
  githubOrganization: text('githubOrganization', { max: 100 })
    .refine((login) => /^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(login), {
      error: '"githubOrganization" must be a name as in github.com/NAME: letters, digits and hyphens.',
    })
    .nullish(),
});

/** See {@link beginRegistrationSchema}. */
export type BeginRegistrationInput = z.input<typeof beginRegistrationSchema>;

/** A registration that has begun. */
export interface BegunRegistration {
  /** The page of this service that sends the browser to GitHub. Its state is in no other place. */
  readonly registrationUrl: string;
  readonly expiresAt: Date;
}

/**
 * Begins the creation of a GitHub App from a manifest, without a request to GitHub. The state in the URL belongs to the viewer's key or sign-in.
 * Throws FORBIDDEN, INVALID_INPUT, NOT_UNIQUE, LIMIT_EXCEEDED, CONFIRMATION_REQUIRED.
 */
export async function beginGithubAppRegistration(
  context: Context,
  raw: BeginRegistrationInput,
): Promise<BegunRegistration> {
  const { viewer, keyring, store, forges, baseUrl } = context;
  requireEnterprisePermission(viewer, permissionFor.manageGitConnections);
  const { name, host: entered, githubOrganization = null } = parseInput(beginRegistrationSchema, raw);
  const host = entered.trim();
  orRefuse('host', () => forges.githubApps(host));
  requireConfirmation(context);
  const { enterpriseId } = viewer;
  const apiKeyId = viewer.apiKeyId ?? viewer.consoleSessionId;
  if (apiKeyId === undefined) throw new DomainError('FORBIDDEN', 'Only a caller from outside can create a GitHub App.');
  const state = newConsoleCode();
  const id = newId();
  const createdAt = context.now();
  const expiresAt = new Date(createdAt.getTime() + registrationMs);
  const row = { id, enterpriseId, apiKeyId, stateHash: keyring.hashToken(state), name, host, githubOrganization };
  await store.transact(async (tx) => {
    await lockScope(tx, { enterpriseId, organizationId: null });
    await requireRoom(tx, enterpriseId);
    await requireFreeName(tx, { id, enterpriseId, name });
    const insert = insertStatement('GithubAppRegistration', { ...row, usedAt: null, createdAt, expiresAt });
    await tx.query(insert.text, insert.values);
    await tx.query(
      `delete from github_app_registration where id in (
         select id from github_app_registration where enterprise_id = $1
          order by created_at desc, id desc offset ${maxOpen}) returning id`,
      [enterpriseId],
    );
  });
  return { registrationUrl: `${baseUrl}/console/github-app?state=${state}`, expiresAt };
}
