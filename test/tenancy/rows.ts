import type { TestApp } from '../support/app.ts';

/** The tenant of a row. `public`: no tenant; everyone may see it. */
export type TenantName = 'A' | 'B' | 'D' | 'E' | 'X' | 'public';

/** A row as JSON, by column name. */
export type Row = Readonly<Record<string, unknown>>;
/** All rows of every table, in the order of their ids. */
export type Rows = ReadonlyMap<string, readonly Row[]>;

/** Tables without tenants' data: reading positions, or ids of other tables' rows. */
const ofNobody = new Set([
  '_prisma_migrations',
  'installation',
  'rate_limit',
  'paging_snapshot',
  'worker',
  'automation_feed',
  'automation_progress',
  'webhook_feed',
  'webhook_progress',
  'resource_change',
  'deleted_session',
  'used_sign_on_value',
]);
/** Columns that change when a key is used. */
const unstable = new Set(['last_used_at']);

/** Tables that are written with a delay: a change there is not caused by the previous request. */
export const writtenLater: ReadonlySet<string> = new Set(['legacy_call']);

/** The tables with tenants' data. */
export async function tableNames(test: Pick<TestApp, 'app'>): Promise<string[]> {
  const tables = await test.app.services.store.query<{ name: string }>(
    `select c.table_name::text as name from information_schema.tables c
      where c.table_schema = 'public' and c.table_type = 'BASE TABLE' order by 1`,
  );
  return tables.map(({ name }) => name).filter((name) => !ofNobody.has(name));
}

/** Reads these tables in one statement. */
export async function readRows(test: Pick<TestApp, 'app'>, tables: readonly string[]): Promise<Rows> {
  const parts = tables.map((name) => `select '${name}' as name, to_jsonb(t) as row from "${name}" t`);
  const found = await test.app.services.store.query<{ name: string; row: Row }>(parts.join(' union all '));
  const rows = new Map<string, Row[]>(tables.map((name) => [name, []]));
  for (const { name, row } of found) {
    rows.get(name)?.push(Object.fromEntries(Object.entries(row).filter(([column]) => !unstable.has(column))));
  }
  const keyOf = (row: Row) => `${row.id ?? JSON.stringify(row)}`;
  for (const list of rows.values()) list.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return rows;
}

/** A number per table that changes with every write: cheaper than reading the table. */
export async function readStamps(test: Pick<TestApp, 'app'>, tables: readonly string[]): Promise<Map<string, string>> {
  const parts = tables.map(
    (name) =>
      `select '${name}' as name, count(*) || ':' || coalesce(sum(xmin::text::bigint), 0) as stamp from "${name}"`,
  );
  const found = await test.app.services.store.query<{ name: string; stamp: string }>(parts.join(' union all '));
  return new Map(found.map(({ name, stamp }) => [name, stamp]));
}

/** The organizations and enterprises of the tenants. */
export interface TenantIds {
  readonly organizations: ReadonlyMap<string, TenantName>;
  readonly enterprises: ReadonlyMap<string, TenantName>;
}

/** Finds the tenant of each row. Throws, with the rule to add, for a table whose rows do not tell. */
export function attribute(rows: Rows, tenantIds: TenantIds): (table: string, row: Row) => TenantName {
  const byId = (table: string) => new Map((rows.get(table) ?? []).map((row) => [row.id, row]));
  const tables = {
    session: byId('session'),
    user: byId('user_account'),
    serviceUser: byId('service_user'),
    apiKey: byId('api_key'),
    connection: byId('git_connection'),
  };
  // A repository belongs to the enterprise; in the tests, one organization has the permission to use it.
  const users = new Map((rows.get('git_permission') ?? []).map((row) => [row.repo_path, row.organization_id]));
  const membership = new Map<unknown, unknown>();
  for (const row of rows.get('role_assignment') ?? []) {
    if (row.user_id && row.organization_id && !membership.has(row.user_id))
      membership.set(row.user_id, row.organization_id);
  }
  const inEnterprise = (id: unknown): TenantName => tenantIds.enterprises.get(id as string) ?? 'X';
  const inOrganization = (id: unknown): TenantName => {
    const tenant = tenantIds.organizations.get(id as string);
    if (tenant) return tenant;
    const organization = (rows.get('organization') ?? []).find((row) => row.id === id);
    return inEnterprise(organization?.enterprise_id);
  };
  const tenantOf = (table: string, row: Row): TenantName => {
    if (table === 'organization') return inOrganization(row.id);
    if (table === 'enterprise') return inEnterprise(row.id);
    if (table === 'user_account') {
      const organizationId = membership.get(row.id);
      return organizationId ? inOrganization(organizationId) : inEnterprise(row.enterprise_id);
    }
    if (table === 'repository' && users.has(row.path)) return inOrganization(users.get(row.path));
    if (row.organization_id) return inOrganization(row.organization_id);
    const session = tables.session.get(row.session_id);
    if (session) return tenantOf('session', session);
    const user = tables.user.get(row.user_id);
    if (user) return tenantOf('user_account', user);
    const serviceUser = tables.serviceUser.get(row.service_user_id);
    if (serviceUser) return tenantOf('service_user', serviceUser);
    const apiKey = tables.apiKey.get(row.api_key_id);
    if (apiKey) return tenantOf('api_key', apiKey);
    if (row.enterprise_id) return inEnterprise(row.enterprise_id);
    const connection = tables.connection.get(row.git_connection_id);
    if (connection) return tenantOf('git_connection', connection);
    if (table === 'role') return 'public';
    throw new Error(
      `A row of "${table}" does not say whose it is: give it organization_id, enterprise_id or session_id, or add a rule to attribute() in test/tenancy/rows.ts.`,
    );
  };
  return tenantOf;
}

/** Tables whose rows are read with a key, and cached with it. */
const readWithKeys = new Set([
  'api_key',
  'user_account',
  'service_user',
  'role',
  'role_assignment',
  'user_identity',
  'idp_group',
  'idp_group_role',
  'idp_group_member',
  'organization',
  'enterprise',
  'installation',
]);

/** Restores the previous content of tables. */
export async function restoreRows(test: Pick<TestApp, 'app'>, wanted: Rows, tables: readonly string[]): Promise<void> {
  const { store, keyCache } = test.app.services;
  const isOfKeys = tables.some((table) => readWithKeys.has(table));
  await store.transact(async (tx) => {
    // Without foreign key triggers: the tables are consistent again only after all are restored.
    await tx.query('set local session_replication_role = replica');
    for (const table of tables) {
      await tx.query(`delete from "${table}"`);
      await tx.query(`insert into "${table}" select * from jsonb_populate_recordset(null::"${table}", $1::jsonb)`, [
        JSON.stringify(wanted.get(table)),
      ]);
    }
    if (isOfKeys) await tx.query('update installation set key_epoch = key_epoch + 1');
  });
  if (isOfKeys) keyCache.invalidate();
}

const telling =
  // Matches canaries in the texts of tenants; ids, also with hyphens, and hashes of tokens; the visible part of a
  // token; complete tokens; canary addresses; encrypted values.
  /canary-[a-z]-[a-z0-9-]*[a-z0-9]|(?<![0-9a-f])[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}(?:[0-9a-f]{32})?(?![0-9a-f])|(?:apk_user_|apk_|cog_)[a-z0-9]{4}(?:…|[a-z0-9]{16,})|203\.0\.113\.\d+|v1\.[\w-]+\.[\w-]{20,}/g;

/** Matches words that may be base64, at their start only: matching at every letter would take most of the time. */
export const encodedRuns = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}={0,2}/g;
const isId = /^[0-9a-f-]+$/;

/** The strings in a text that identify a tenant; also inside base64, and in ids with hyphens. */
export function tellingStrings(text: string): Set<string> {
  const decoded = [...text.matchAll(encodedRuns)].map(([word]) => Buffer.from(word, 'base64').toString('latin1'));
  const found = new Set<string>();
  for (const part of [text, ...decoded]) {
    for (const [match] of part.toLowerCase().matchAll(telling)) {
      found.add(isId.test(match) ? match.replaceAll('-', '') : match);
    }
  }
  return found;
}
