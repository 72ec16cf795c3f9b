import { type Row, type TenantName, tellingStrings } from './rows.ts';
import type { World } from './world.ts';

/** A caller, the data hidden from it, and the rows that it may change. */
export interface Principal {
  readonly name: string;
  readonly token: string;
  /** The unprefixed id of the user or the service user, or of a key without an owner. */
  readonly principalId: string;
  /** False: no data of such a row may reach it, and its id must be treated as unknown. */
  readonly maySee: (tenant: TenantName, table: string, row: Row) => boolean;
  readonly mayChange: readonly TenantName[];
  /** The name of the first principal with the same rights. */
  readonly rights: string;
  /** The tenants in which its own objects are looked up, in order. */
  readonly home: readonly TenantName[];
  /** Strings that would reveal hidden data. */
  readonly hidden: ReadonlySet<string>;
}

type Visibility = Principal['maySee'];

/**
 * A principal of an organization sees the organization, and the roles of its enterprise, which all organizations share.
 */
const ofOrganization: Visibility = (tenant, table) => tenant === 'A' || (tenant === 'E' && isShared(table));
/** Everything of the enterprise. The content of a deleted organization is gone, but the audit log still names it. */
const ofEnterprise: Visibility = (tenant, table) =>
  tenant === 'D' ? !goneWithOrganization.has(table) : tenant !== 'X' && tenant !== 'public';
/** The people of the enterprise and the list of its organizations, but nothing inside them. */
const onlyPeople: Visibility = (tenant, table) =>
  ofEnterprise(tenant, table, {}) &&
  (tenant === 'A' || isShared(table) || people.has(table) || table === 'organization');
const onlyOrganizations: Visibility = (tenant, table) =>
  tenant === 'A' || ((tenant === 'B' || tenant === 'E') && (isShared(table) || table === 'organization'));

/** Tables whose enterprise rows all organizations share. */
const shared = new Set(['role', 'enterprise', 'playbook', 'knowledge_note', 'knowledge_folder']);
const isShared = (table: string) => shared.has(table);
const people = new Set([
  'user_account',
  'service_user',
  'role_assignment',
  'api_key',
  // Groups belong to the enterprise, and have roles in organizations.
  'idp_group',
  'idp_group_role',
  'idp_group_member',
]);
const goneWithOrganization = new Set([
  'organization',
  'session',
  'session_head',
  'session_tag',
  'session_secret',
  'log_entry',
  'run',
  'lease',
  'attachment',
  'checkpoint',
  'checkpoint_segment',
  'checkpoint_key',
  'idempotency_key',
  'secret',
  'provider_key',
  'git_permission',
  'repository',
  'playbook',
  'knowledge_note',
  'knowledge_folder',
  'automation',
  'automation_run',
  'webhook_endpoint',
  'webhook_delivery',
  'checkpoint',
  'checkpoint_segment',
  'checkpoint_key',
  'snapshot',
]);

/** Principals with the rights of one above them, and another kind of key. */
const rightsOf: Readonly<Record<string, string>> = {
  'an account_admin’s personal key': 'an account_admin',
  'a service key of the enterprise': 'an account_admin',
  'a service user of the enterprise': 'an account_admin',
  'a member’s personal key': 'a member’s personal access token',
  'a service key': 'an org_admin',
  'a service user': 'an org_admin',
};

/** Every kind of live principal of A and its enterprise. */
export function livePrincipals(world: World): Principal[] {
  const { a, e } = world;
  const confined = [
    ['a member’s personal access token', a.member],
    ['a member’s personal key', a.memberV1],
    ['an org_admin', a.orgAdmin],
    ['a user of a custom role', a.custom],
    ['a service key', a.serviceKey],
    ['a service user', a.serviceUser],
  ] as const;
  const wide = [
    ['an account_admin', e.accountAdmin],
    ['an account_admin’s personal key', e.accountAdminV1],
    ['a service key of the enterprise', e.serviceKey],
    ['a service user of the enterprise', e.serviceUser],
  ] as const;
  const all: TenantName[] = ['A', 'B', 'E', 'D'];
  return [
    // Principals with the most permissions come first: the others need not try shapes in every way after a success.
    ...wide.map(([name, token]) => principal(world, name, token, ofEnterprise, all)),
    ...confined.map(([name, token]) => principal(world, name, token, ofOrganization, ['A'])),
    principal(world, 'an account_member', e.accountMember, onlyOrganizations, ['E']),
    principal(world, 'an enterprise user of a custom role', e.peopleManager, onlyPeople, all),
  ];
}

/** Principals in B and X. The others then try to use their cursors and the results of their idempotent calls. */
export function strangers(world: World): { readonly tenant: TenantName; readonly principal: Principal }[] {
  const ofX: Visibility = (tenant) => tenant === 'X';
  const homeB: TenantName[] = ['B', 'E', 'public'];
  const homeX: TenantName[] = ['X', 'public'];
  // With both prefixes, so that every version of REST accepts one of them.
  return [
    { tenant: 'B', principal: principal(world, 'B’s', world.e.accountAdmin, ofEnterprise, ['B'], homeB) },
    { tenant: 'B', principal: principal(world, 'B’s in v1', world.e.serviceKey, ofEnterprise, ['B'], homeB) },
    { tenant: 'X', principal: principal(world, 'X’s', world.xe.accountAdmin, ofX, ['X'], homeX) },
    { tenant: 'X', principal: principal(world, 'X’s in v1', world.xe.accountAdminV1, ofX, ['X'], homeX) },
  ];
}

function principal(
  world: World,
  name: string,
  token: string,
  visibility: Visibility,
  mayChange: readonly TenantName[],
  home: readonly TenantName[] = ['A', 'E', 'B', 'public'],
): Principal {
  const own = new Set<unknown>(ownerIdsOf(world, token));
  const principalId = ownerIdsOf(world, token).at(-1) as string;
  const maySee: Visibility = (tenant, table, row) =>
    // Nobody else sees the keys of a user, not even an administrator.
    row.owner_user_id != null ? own.has(row.owner_user_id) : mayUse(tenant, table, row);
  const mayUse: Visibility = (tenant, table, row) =>
    tenant === 'public' ||
    own.has(row.id) ||
    own.has(row.user_id) ||
    own.has(row.service_user_id) ||
    visibility(tenant, table, row);
  const seen = new Set<string>();
  const hidden = new Set<string>();
  for (const { table, row, tenant, strings } of tellingRows(world)) {
    const into = maySee(tenant, table, row) ? seen : hidden;
    for (const string of strings) into.add(string);
  }
  for (const string of seen) hidden.delete(string);
  return { name, token, principalId, maySee, mayChange, rights: rightsOf[name] ?? name, home, hidden };
}

interface TellingRow {
  readonly table: string;
  readonly row: Row;
  readonly tenant: TenantName;
  readonly strings: ReadonlySet<string>;
}

const ofWorlds = new WeakMap<World, readonly TellingRow[]>();

// The telling strings of every row, shared by all principals.
function tellingRows(world: World): readonly TellingRow[] {
  const cached = ofWorlds.get(world);
  if (cached) return cached;
  const all = [...world.rows].flatMap(([table, rows]) =>
    rows.map((row) => ({
      table,
      row,
      tenant: world.tenantOf(table, row),
      strings: tellingStrings(JSON.stringify(row)),
    })),
  );
  ofWorlds.set(world, all);
  return all;
}

// The key's own id, then its owner's.
function ownerIdsOf(world: World, token: string): string[] {
  const hashes = world.test.app.services.keyring.tokenHashes(token);
  const key = (world.rows.get('api_key') ?? []).find((row) => hashes.includes(row.token_hash as string));
  if (!key) throw new Error('A principal of the matrix has a token without a key.');
  return [key.id, key.user_id, key.service_user_id].filter((id): id is string => typeof id === 'string');
}
