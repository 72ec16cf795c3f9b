import { DomainError, type Issue, refuse } from '../../common/errors.ts';
import type { ForgeKind } from '../../forges/interface/forge.ts';
import { cloneUrlOf } from '../../forges/support/connection.ts';
import type { Store, Transaction } from '../../store/store.ts';
import type { Services } from '../context.ts';
import { newId } from '../ids.ts';
import { parseReference, type RepositoryCandidate } from './parse-reference.ts';
import { type PushSettings, readPushSettings } from './push-settings.ts';

/** A repository that an organization may use, through the connection that grants the most. */
export interface UsableRepository {
  /** Unprefixed id. */
  readonly repositoryId: string;
  /** Unprefixed id. */
  readonly connectionId: string;
  readonly connectionName: string;
  readonly kind: ForgeKind;
  /** In lower case, with the port if it is not the default. */
  readonly host: string;
  /** As the forge spells it, if it was read; otherwise as it was first named. */
  readonly path: string;
  /** Without a credential. */
  readonly cloneUrl: string;
  /** Null: unknown until the repository is read. */
  readonly defaultBranch: string | null;
  readonly isReadOnly: boolean;
  readonly pushSettings: PushSettings;
}

/** Maximum number of references that are resolved at once. */
export const maxReferences = 100;

interface FoundRow extends Omit<UsableRepository, 'repositoryId' | 'cloneUrl' | 'pushSettings'> {
  readonly position: number;
  readonly repositoryId: string | null;
  readonly enterpriseId: string;
  readonly address: string;
  /** Null: the repository was not used before. */
  readonly settings: unknown;
}

/**
 * Returns the repositories that an organization, by its unprefixed id, names by these references, in their order: as
 * `parseReference` reads them. Creates the rows of repositories that are used for the first time. It makes no request to
 * a forge and checks no permission of the viewer: the caller has. Throws UNKNOWN_REFERENCE at `pathOf(index)`: unknown,
 * not permitted and deleted are the same.
 */
export async function resolveRepositories(
  { now }: Pick<Services, 'now'>,
  tx: Transaction,
  organizationId: string,
  references: readonly string[],
  pathOf: (index: number) => readonly string[] = (index) => ['repositories', `${index}`, 'repository'],
): Promise<UsableRepository[]> {
  if (references.length === 0) return [];
  if (references.length > maxReferences) {
    throw refuse(['repositories'], `At most ${maxReferences} repositories can be named.`, 'LIMIT_EXCEEDED');
  }
  const found = await findUsable(
    tx,
    references.map((reference) => ofOrganization(organizationId, reference)),
  );
  const issues = references.flatMap((reference, index) =>
    found[index] ? [] : [{ path: pathOf(index), message: unknownMessage(reference) }],
  );
  if (issues.length > 0) throw unknownReferences(issues, await unknownHint(tx, organizationId));
  const rows = found as FoundRow[];
  const created = await createMissing({ now }, tx, rows);
  return rows.map((row) => toUsable(row, created));
}

/**
 * Returns those of these references that {@link resolveRepositories} would refuse as unknown. References beyond the first {@link
 * maxReferences} are unknown.
 */
export async function findUnknownReferences(
  db: Pick<Store, 'query'>,
  organizationId: string,
  references: readonly string[],
): Promise<string[]> {
  if (references.length === 0) return [];
  const read = references.slice(0, maxReferences).map((reference) => ofOrganization(organizationId, reference));
  const found = await findUsable(db, read);
  return references.filter((_reference, index) => !found[index]);
}

/**
 * Tells if an enterprise has or had a git connection. If it never had one, the names of repositories in REST and in automations
 * are only text.
 */
export async function hasHadGitConnections(db: Pick<Store, 'query'>, enterpriseId: string): Promise<boolean> {
  const [row] = await db.query<{ exists: boolean }>(
    'select exists (select 1 from git_connection con where con.enterprise_id = $1) as exists',
    [enterpriseId],
  );
  return row?.exists ?? false;
}

/**
 * Returns a repository by its unprefixed id for a clone or a push of an organization's session; null if the organization may
 * not use it any longer: a revoked permission and a deleted connection count at once.
 */
export async function usableRepository(
  { store }: Pick<Services, 'store'>,
  organizationId: string,
  repositoryId: string,
): Promise<UsableRepository | null> {
  const [row] = await findUsable(store, [{ organizationId, candidates: [{ id: repositoryId, host: null, path: '' }] }]);
  return row ? toUsable(row, new Map()) : null;
}

/** A reference to a repository in an organization, by its unprefixed id. */
export interface OrganizationReference {
  readonly organizationId: string;
  readonly reference: string;
}

/**
 * Returns the unprefixed ids of the repositories that organizations name by these references, in their order; null for one that the
 * organization may not use, and for one that has no row yet. It checks no permission of the viewer: the caller has.
 */
export async function findUsableIds(
  db: Pick<Store, 'query'>,
  references: readonly OrganizationReference[],
): Promise<(string | null)[]> {
  const read = references.map(({ organizationId, reference }) => ofOrganization(organizationId, reference));
  const found = await findUsable(db, read);
  return found.map((row) => row?.repositoryId ?? null);
}

/**
 * Returns those of these organizations, by unprefixed ids, that may use a repository at a host now. `host`: as connections
 * store it in lower case. The path needs no row yet.
 */
export async function findOrganizationsUsing(
  db: Pick<Store, 'query'>,
  organizationIds: readonly string[],
  { host, path }: { readonly host: string; readonly path: string },
): Promise<ReadonlySet<string>> {
  const candidates = [{ id: null, host, path }];
  const found = await findUsable(
    db,
    organizationIds.map((organizationId) => ({ organizationId, candidates })),
  );
  return new Set(organizationIds.filter((_, index) => found[index] !== undefined));
}

/**
 * Returns those of these paths at a host that an organization, by its unprefixed id, may use now. `host`: as connections store it in
 * lower case. It checks no permission of the viewer: the caller has.
 */
export async function findUsablePaths(
  db: Pick<Store, 'query'>,
  organizationId: string,
  host: string,
  paths: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = await findUsable(
    db,
    paths.map((path) => ({ organizationId, candidates: [{ id: null, host, path }] })),
  );
  return new Set(paths.filter((_, index) => found[index] !== undefined));
}

/**
 * Returns the connection through which an organization may use the repository of a reference, with the host and the path there; null if
 * it may not. The repository needs no row yet. It checks no permission of the viewer: the caller has.
 */
export async function findUsableConnection(
  db: Pick<Store, 'query'>,
  { organizationId, reference }: OrganizationReference,
): Promise<Pick<UsableRepository, 'connectionId' | 'host' | 'path'> | null> {
  const [found] = await findUsable(db, [ofOrganization(organizationId, reference)]);
  return found ?? null;
}

/** The message for a reference to a repository that the organization may not use, or that does not exist. */
export const unknownMessage = (reference: string): string => {
  const named = JSON.stringify(reference.slice(0, 200));
  return parseReference(reference).length === 0
    ? `${named} is not the name of a repository: use owner/name, or its URL with both.`
    : `There is no repository ${named} that this organization may use.`;
};

/** Creates UNKNOWN_REFERENCE of these issues. `hint`: of {@link unknownHint}; it ends each message. */
export function unknownReferences(issues: readonly Issue[], hint: string): DomainError {
  const hinted = issues.map(({ path, message }) => ({ path, message: `${message}${hint}` }));
  return new DomainError('UNKNOWN_REFERENCE', `${issues.map(({ message }) => message).join(' ')}${hint}`, hinted);
}

/**
 * Returns the sentences that follow {@link unknownMessage} if an organization needs a git permission and has none, with a
 * space before them; otherwise an empty text.
 */
export async function unknownHint(db: Pick<Store, 'query'>, organizationId: string): Promise<string> {
  const [row] = await db.query<{ isWithoutPermission: boolean }>(
    `select bool_and(not ${needsNoPermission('o', 'con')} and not exists (select 1 from git_permission p
         where p.organization_id = o.id and p.git_connection_id = con.id)) as "isWithoutPermission"
       from organization o join git_connection con on con.enterprise_id = o.enterprise_id and con.deleted_at is null
      where o.id = $1`,
    [organizationId],
  );
  if (row?.isWithoutPermission !== true) return '';
  return ' The organization has no git permission. An administrator can add one in the console, under Settings → Git → Permissions.';
}

/** SQL condition: a permission of this alias covers the path of this expression, which is in lower case. */
export const coversPath = (alias: string, path: string): string =>
  `(lower(${alias}.repo_path) = ${path} or starts_with(${path}, lower(${alias}.group_prefix) || '/')
     or starts_with(${path}, lower(${alias}.prefix_path)))`;

/**
 * SQL condition: the organization of this alias may use a connection of this alias without a permission. It is the only one of
 * its enterprise and has no permission for the connection, which would limit it.
 */
export const needsNoPermission = (organization: string, connection: string): string =>
  `(not exists (select 1 from organization other where other.enterprise_id = ${organization}.enterprise_id
       and other.id <> ${organization}.id and other.deleted_at is null)
     and not exists (select 1 from git_permission own where own.organization_id = ${organization}.id
       and own.git_connection_id = ${connection}.id))`;

// GitHub and Gitea have paths of two parts only. In a longer text without a scheme, a first part with a dot is a host rather than a
// group, unless a permission names that group.
const isPossiblePath = `(named.path !~ '/.*/' or (con.provider_type in ('gitlab_token', 'git_https')
    and (c.id is not null or c.host is not null or p.created_at is not null or named.path !~ '^[^/]*[.]')))`;

// A host-qualified path may begin with the path of the connection's base URL.
const findSql = `
  select distinct on (c.position) c.position::int as position, r.id as "repositoryId", o.enterprise_id as "enterpriseId",
    con.id as "connectionId", con.name as "connectionName", con.provider_type as kind, con.host_key as host, con.host as address,
    coalesce(r.path, p.repo_path, named.path) as path, r.default_branch as "defaultBranch",
    coalesce(p.read_only, false) as "isReadOnly", r.settings
  from unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::text[]) c (organization_id, position, id, host, path)
  join organization o on o.id = c.organization_id and o.deleted_at is null
  left join repository known on known.id = c.id and known.enterprise_id = o.enterprise_id
  join git_connection con on con.enterprise_id = o.enterprise_id and con.deleted_at is null
    and con.host_key = coalesce(known.host, c.host, con.host_key)
  cross join lateral (select rtrim(lower(regexp_replace(con.host, '^([a-z]+://)?[^/]*/?', '')), '/') as text) base
  cross join lateral (select case
      when c.id is not null then known.path
      when c.host is not null and base.text <> '' and starts_with(lower(c.path), base.text || '/')
        then substr(c.path, length(base.text) + 2)
      else c.path end as path) named
  left join repository r on r.enterprise_id = o.enterprise_id and r.host = con.host_key and r.path_key = lower(named.path)
  left join lateral (
    select p.read_only, p.repo_path, p.created_at from git_permission p
     where p.organization_id = o.id and p.git_connection_id = con.id and ${coversPath('p', 'lower(named.path)')}
     order by p.read_only, p.repo_path is null, p.created_at, p.id limit 1) p on true
  where named.path is not null and (p.created_at is not null or ${needsNoPermission('o', 'con')})
    and ${isPossiblePath}
  order by c.position, coalesce(p.read_only, false), p.repo_path is null, c.host is null,
    coalesce(p.created_at, con.created_at), con.id`;

/** A reference, read in each possible way. */
interface Wanted {
  readonly organizationId: string;
  readonly candidates: readonly RepositoryCandidate[];
}

const ofOrganization = (organizationId: string, reference: string): Wanted => ({
  organizationId,
  candidates: parseReference(reference),
});

async function findUsable(
  db: Pick<Store, 'query'> | Pick<Transaction, 'query'>,
  references: readonly Wanted[],
): Promise<(FoundRow | undefined)[]> {
  const candidates = references.flatMap(({ organizationId, candidates: each }, position) =>
    each.map((one) => ({ ...one, organizationId, position })),
  );
  if (candidates.length === 0) return references.map(() => undefined);
  const rows = await db.query<FoundRow>(findSql, [
    candidates.map(({ organizationId }) => organizationId),
    candidates.map(({ position }) => position),
    candidates.map(({ id }) => id),
    candidates.map(({ host }) => host),
    candidates.map(({ path }) => path),
  ]);
  const byPosition = new Map(rows.map((row) => [row.position, row]));
  return references.map((_each, position) => byPosition.get(position));
}

interface CreatedRow {
  readonly id: string;
  readonly host: string;
  readonly path: string;
}

const keyOf = ({ host, path }: { readonly host: string; readonly path: string }) => `${host} ${path.toLowerCase()}`;

async function createMissing(
  { now }: Pick<Services, 'now'>,
  tx: Transaction,
  rows: readonly FoundRow[],
): Promise<ReadonlyMap<string, CreatedRow>> {
  const missing = new Map<string, FoundRow>();
  for (const row of rows) {
    if (row.repositoryId === null && !missing.has(keyOf(row))) missing.set(keyOf(row), row);
  }
  if (missing.size === 0) return new Map();
  // In one order, so that two transactions do not wait for each other.
  const values = [...missing].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  const created = await tx.query<CreatedRow>(
    `insert into repository (id, enterprise_id, host, path, path_key, git_connection_id, created_at, updated_at)
     select n.id, $2, n.host, n.path, lower(n.path), n.connection_id, $6::timestamptz, $6::timestamptz
       from unnest($1::text[], $3::text[], $4::text[], $5::text[]) n (id, host, path, connection_id)
     on conflict (enterprise_id, host, path_key) do update set path_key = excluded.path_key
     returning id, host, path`,
    [
      values.map(() => newId()),
      values[0]?.enterpriseId,
      values.map(({ host }) => host),
      values.map(({ path }) => path),
      values.map(({ connectionId }) => connectionId),
      now(),
    ],
  );
  return new Map(created.map((row) => [keyOf(row), row]));
}

function toUsable(row: FoundRow, created: ReadonlyMap<string, CreatedRow>): UsableRepository {
  const { connectionId, connectionName, kind, host, defaultBranch, isReadOnly, address } = row;
  const first = row.repositoryId === null ? created.get(keyOf(row)) : undefined;
  const path = first?.path ?? row.path;
  const repositoryId = first?.id ?? (row.repositoryId as string);
  const cloneUrl = cloneUrlOf(address, path);
  const pushSettings = readPushSettings(row.settings);
  return {
    ...{ repositoryId, connectionId, connectionName, kind, host, path, cloneUrl },
    ...{ defaultBranch, isReadOnly, pushSettings },
  };
}
