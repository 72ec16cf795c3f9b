import { permissionFor } from '../../../auth/permissions.ts';
import { organizationsWith, requireEnterprisePermission } from '../../../auth/viewer.ts';
import { notFound } from '../../../common/errors.ts';
import { fieldsOf, type Narrowed, selectFields } from '../../../store/tables.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { parseId } from '../../ids.ts';
import { findRepositories, type RepositoryRecord } from './repositories.ts';

// The key of a result, and the checkpoint, mean nothing to clients.
const buildFields = fieldsOf('EnvironmentBuild', ['hash', 'machine', 'checkpointId', 'log', 'definition']);

/** A set-up of a repository that ran or runs for an organization, as the APIs read it. Ids are unprefixed. */
export type EnvironmentBuild = Narrowed<'EnvironmentBuild', (typeof buildFields)[number], Record<never, never>>;

/** The environment of a repository, as far as the database has it. */
export interface StoredEnvironment {
  /** The definition that an administrator stored; null: that of the repository's own files. */
  readonly text: string | null;
  /** The newest first, of all organizations that the viewer may see. */
  readonly builds: readonly EnvironmentBuild[];
}

/** The maximum number of builds of one repository that are read. */
const maxBuilds = 10;

const visible = `join organization o on o.id = b.organization_id
      where o.enterprise_id = $2 and o.deleted_at is null and ($3::boolean or o.id = any($4::text[]))`;

/** Reads the environments of repositories that were read for the viewer, by their unprefixed ids and in their order. */
export async function findStoredEnvironments(
  { store, viewer }: Context,
  repositoryIds: readonly string[],
): Promise<StoredEnvironment[]> {
  const { enterpriseId, all, ids } = organizationsWith(viewer, permissionFor.viewRepositories);
  const texts = await store.query<{ id: string; text: string }>(
    'select id, environment as text from repository where id = any($1::text[]) and enterprise_id = $2 and environment is not null',
    [repositoryIds, enterpriseId],
  );
  const builds = await store.query<EnvironmentBuild>(
    `select n.* from unnest($1::text[]) k (id) cross join lateral (
       select ${selectFields('EnvironmentBuild', 'b', buildFields)} from environment_build b ${visible} and b.repository_id = k.id
        order by b.created_at desc, b.id desc limit $5) n`,
    [repositoryIds, enterpriseId, all, ids, maxBuilds],
  );
  const textOf = new Map(texts.map(({ id, text }) => [id, text]));
  return repositoryIds.map((id) => ({
    text: textOf.get(id) ?? null,
    builds: builds.filter(({ repositoryId }) => repositoryId === id),
  }));
}

/** Reads a build that the viewer may see, by its unprefixed id. */
export async function findBuild({ store, viewer }: Context, id: string): Promise<EnvironmentBuild | null> {
  const { enterpriseId, all, ids } = organizationsWith(viewer, permissionFor.viewRepositories);
  const [build] = await store.query<EnvironmentBuild>(
    `select ${selectFields('EnvironmentBuild', 'b', buildFields)} from environment_build b ${visible} and b.id = $1`,
    [id, enterpriseId, all, ids],
  );
  return build ?? null;
}

/** Reads the logs of builds that the viewer may see, by their unprefixed ids and in their order; null for each other id. */
export async function findBuildLogs({ store, viewer }: Context, ids: readonly string[]): Promise<(string | null)[]> {
  const { enterpriseId, all, ids: organizationIds } = organizationsWith(viewer, permissionFor.viewRepositories);
  const rows = await store.query<{ id: string; log: string }>(
    `select b.id, b.log from environment_build b ${visible} and b.id = any($1::text[])`,
    [ids, enterpriseId, all, organizationIds],
  );
  const logs = new Map(rows.map(({ id, log }) => [id, log]));
  return ids.map((id) => logs.get(id) ?? null);
}

/**
 * Deletes the stored results of the set-ups of a repository in all organizations, by its id in any form: the next session of each sets up again. Sessions
 * that started with one keep their files. Throws FORBIDDEN and NOT_FOUND.
 */
export async function deleteEnvironmentBuilds(context: Context, id: string): Promise<RepositoryRecord> {
  requireEnterprisePermission(context.viewer, permissionFor.changeRepositories);
  const bare = parseId('repository', id);
  const [repository] = bare === null ? [] : await findRepositories(context, [bare]);
  if (!repository) throw notFound('repository');
  await context.store.transact(async (tx) => {
    const deleted = await tx.query('delete from environment_build where repository_id = $1 returning id', [
      repository.id,
    ]);
    if (deleted.length === 0) return;
    const data = { repository: `${repository.host}/${repository.path}`, deletedEnvironmentBuilds: deleted.length };
    await audit(context, tx, 'update_repository', { organizationId: null, targetId: repository.id, data });
  });
  return repository;
}
