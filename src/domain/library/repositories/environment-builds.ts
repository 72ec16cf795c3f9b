import { permissionFor } from '../../../auth/permissions.ts';
import { organizationsWith, requireEnterprisePermission } from '../../../auth/viewer.ts';
import { notFound } from '../../../common/errors.ts';
import { fieldsOf, type Narrowed, selectFields } from '../../../store/tables.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import type { DefinitionProblem, EnvironmentDefinition } from '../../environments/definition.ts';
import type { EnvironmentAt } from '../../environments/environment-at.ts';
import { readDefinition } from '../../environments/read-definition.ts';
import { chooseOrganization } from '../../identity/organizations/use-organization.ts';
import { parseId } from '../../ids.ts';
import { usableRepository } from '../../repositories/resolve-repositories.ts';
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

/** The environment of a repository that applies to new sessions at its default branch. */
export interface EnvironmentInEffect {
  /** The path of the file that defines it; null: the text that is stored in Switchyard, or nothing. */
  readonly path: string | null;
  /** The commit at which the file was read; null: none was, or the text is stored in Switchyard. */
  readonly commit: string | null;
  /** Null: nothing defines one, or it has errors. */
  readonly definition: EnvironmentDefinition | null;
  readonly problems: readonly DefinitionProblem[];
  /** The reason why the last read failed; null: it did not. */
  readonly error: string | null;
  /** The time of the last read; null: none was needed. */
  readonly readAt: Date | null;
}

interface ReadRow {
  readonly id: string;
  readonly text: string | null;
  readonly environment: Pick<EnvironmentAt, 'source' | 'definition' | 'problems'> | null;
  readonly commit: string | null;
  readonly error: string | null;
  readonly readAt: Date | null;
}

/**
 * Reads the environments that apply to new sessions, by unprefixed ids of repositories that were read for the viewer, and in their order. Null: no worker
 * has read it yet. Of several organizations that the viewer may see, the last read counts.
 */
export async function findEnvironmentsInEffect(
  { store, viewer }: Context,
  repositoryIds: readonly string[],
): Promise<(EnvironmentInEffect | null)[]> {
  const { enterpriseId, all, ids } = organizationsWith(viewer, permissionFor.viewRepositories);
  const rows = await store.query<ReadRow>(
    `select r.id, r.environment as text, n.* from repository r left join lateral (
       select b.environment, b.commit, b.error, b.read_at as "readAt" from environment_read b ${visible} and b.repository_id = r.id
        order by b.read_at desc nulls last limit 1) n on true
      where r.id = any($1::text[]) and r.enterprise_id = $2`,
    [repositoryIds, enterpriseId, all, ids],
  );
  const found = new Map(rows.map((row) => [row.id, toEnvironment(row)]));
  return repositoryIds.map((id) => found.get(id) ?? null);
}

function toEnvironment({ text, environment, commit, error, readAt }: ReadRow): EnvironmentInEffect | null {
  if (text !== null) return { path: null, commit: null, error: null, readAt: null, ...readDefinition(null, text) };
  if (readAt === null) return null;
  // The text that was stored then applies no longer.
  if (environment !== null && environment.source === null) return null;
  const { source: path = null, definition = null, problems = [] } = environment ?? {};
  return { path, commit, definition, problems, error, readAt };
}

/**
 * Has a worker read the environment of a repository again, through an organization that may use it. Ids in any form. Throws NOT_FOUND, FORBIDDEN and
 * the errors of {@link chooseOrganization}.
 */
export async function refreshEnvironment(
  context: Context,
  {
    repositoryId,
    organizationId,
  }: { readonly repositoryId: string; readonly organizationId?: string | null | undefined },
): Promise<RepositoryRecord> {
  const organization = await chooseOrganization(context, organizationId, permissionFor.createSession);
  const bare = parseId('repository', repositoryId);
  const [repository] = bare === null ? [] : await findRepositories(context, [bare]);
  if (!repository || (await usableRepository(context, organization.id, repository.id)) === null)
    throw notFound('repository');
  await context.store.execute(
    `insert into environment_read (organization_id, repository_id, due_at, created_at) values ($1, $2, $3::timestamptz, $3::timestamptz)
     on conflict (organization_id, repository_id) do update set due_at = excluded.due_at returning repository_id`,
    [organization.id, repository.id, context.now()],
  );
  context.notifier.notify('environments');
  return repository;
}
