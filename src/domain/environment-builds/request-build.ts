import { z } from 'zod';
import { requireConfirmation } from '../../auth/confirmation.ts';
import { permissionFor } from '../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../auth/viewer.ts';
import { DomainError, notFound } from '../../common/errors.ts';
import type { Context } from '../context.ts';
import { storedDefinitionSchema } from '../environments/stored-definition.ts';
import { chooseOrganization } from '../identity/organizations/use-organization.ts';
import { parseId } from '../ids.ts';
import { parseInput } from '../input.ts';
import { type EnvironmentBuild, findBuild } from '../library/repositories/environment-builds.ts';
import { findRepositories } from '../library/repositories/repositories.ts';
import { usableRepository } from '../repositories/resolve-repositories.ts';
import { startBuild } from './start-build.ts';

/** The values of a set-up in inputs. */
export const buildSchema = z.object({
  environmentDefinition: storedDefinitionSchema.nullish(),
  agent: z.string().nullish(),
});

/** A set-up to run now; null and omitted mean the same. Ids in any form. */
export interface BuildRequest {
  readonly repositoryId: string;
  /** If omitted: the organization that the viewer's key is bound to. */
  readonly organizationId?: string | null | undefined;
  /** The definition to build, which need not be saved; if omitted: the one that applies. */
  readonly environmentDefinition?: string | null | undefined;
  /** An agent profile's id; if omitted: the organization's default. */
  readonly agent?: string | null | undefined;
}

/**
 * Starts the set-up of a repository at its default branch, without a user's session, and returns it. Its result replaces an earlier one of the same
 * set-up. A definition in the input needs the permission to change repositories, because its commands get the secrets that it names. Throws NOT_FOUND,
 * FORBIDDEN, INVALID_INPUT, UNKNOWN_REFERENCE, the errors of {@link chooseOrganization}, and INVALID_STATE if a build of the repository is
 * queued or runs.
 */
export async function requestBuild(
  context: Context,
  { repositoryId, organizationId, ...raw }: BuildRequest,
): Promise<EnvironmentBuild> {
  const organization = await chooseOrganization(context, organizationId, permissionFor.createSession);
  if (raw.environmentDefinition != null) {
    requireEnterprisePermission(context.viewer, permissionFor.changeRepositories);
    requireConfirmation(context);
  }
  const bare = parseId('repository', repositoryId);
  const [repository] = bare === null ? [] : await findRepositories(context, [bare]);
  if (!repository || (await usableRepository(context, organization.id, repository.id)) === null)
    throw notFound('repository');
  const { environmentDefinition: definition = null, agent = null } = parseInput(buildSchema, raw);
  const now = context.now();
  const { buildId } = await context.store.transact(async (tx) => {
    const started = await startBuild(context, tx, organization, {
      ...{
        repository,
        trigger: 'REQUEST',
        definition,
        agent,
        secretIds: null,
        directory: null,
        commit: '',
        machine: '',
        usedAt: now,
      },
    });
    if (started === null) {
      const message =
        'A build of this repository is already queued or running. Wait until it ends, or terminate its session.';
      throw new DomainError('INVALID_STATE', message);
    }
    return started;
  });
  const build = await findBuild(context, buildId);
  if (!build) throw notFound('repository');
  return build;
}
