import { newId } from '../../src/domain/ids.ts';
import type { Transaction } from '../../src/store/store.ts';
import { startApp, type TestApp } from '../support/app.ts';
import {
  attribute,
  type Row,
  type Rows,
  readRows,
  type TenantIds,
  type TenantName,
  tableNames,
  writtenLater,
} from './rows.ts';
import { createTenantSeeder, type TenantSeeder } from './tenant.ts';
import { followTables, type WrittenTables } from './written-tables.ts';

/** The tokens of one organization's principals. */
export interface OrganizationTokens {
  readonly member: string;
  readonly memberV1: string;
  readonly orgAdmin: string;
  readonly custom: string;
  readonly serviceKey: string;
  readonly serviceUser: string;
}

/** The tokens of an enterprise's principals. */
export interface EnterpriseTokens {
  readonly accountAdmin: string;
  readonly accountAdminV1: string;
  readonly accountMember: string;
  readonly peopleManager: string;
  readonly serviceKey: string;
  readonly serviceUser: string;
}

/**
 * Organizations A, B and D (deleted) of enterprise E; organization X of another enterprise, also called X. Each has the
 * same kinds of objects.
 */
export interface World {
  readonly test: TestApp;
  readonly tenantIds: TenantIds;
  readonly a: OrganizationTokens;
  readonly b: OrganizationTokens;
  readonly x: OrganizationTokens;
  readonly e: EnterpriseTokens;
  /** The tokens of X's enterprise. */
  readonly xe: EnterpriseTokens;
  /** Tokens that were valid once, by the reason of their end. */
  readonly dead: Readonly<Record<string, string>>;
  /** The content of the database after the world was created. */
  readonly rows: Rows;
  /** The tables of `rows` that are written since then. */
  readonly written: WrittenTables;
  readonly tenantOf: (table: string, row: Row) => TenantName;
}

/** All rate limits are disabled: the matrix sends thousands of requests from one address. */
const unlimited = { rateLimitRest: 0, rateLimitGraphql: 0, rateLimitLogin: 0, rateLimitProvider: 0 };

/** Starts an app with the whole world in its database. */
export async function startWorld(): Promise<World> {
  const test = await startApp(unlimited as object);
  const { store } = test.app.services;
  const { enterpriseId } = test.app.installation;
  const ids = { a: test.organizationId, b: newId(), d: newId(), x: newId(), enterprise: newId() };
  const made = await store.transact((tx) => seed(test, tx, enterpriseId, ids));
  const tenantIds: TenantIds = {
    organizations: new Map<string, TenantName>([
      [ids.a, 'A'],
      [ids.b, 'B'],
      [ids.d, 'D'],
      [ids.x, 'X'],
    ]),
    enterprises: new Map<string, TenantName>([
      [enterpriseId, 'E'],
      [ids.enterprise, 'X'],
    ]),
  };
  const rows = await readRows(test, await tableNames(test));
  const written = await followTables(
    test,
    [...rows.keys()].filter((table) => !writtenLater.has(table)),
  );
  const tenantOf = attribute(rows, tenantIds);
  return { test, tenantIds, ...made, rows, written, tenantOf };
}

async function seed(
  test: TestApp,
  tx: Transaction,
  enterpriseId: string,
  ids: { a: string; b: string; d: string; x: string; enterprise: string },
): Promise<Pick<World, 'a' | 'b' | 'x' | 'e' | 'xe' | 'dead'>> {
  const createdAt = test.app.services.now();
  const planters = {
    a: createTenantSeeder(test, tx, enterpriseId, 'a'),
    b: createTenantSeeder(test, tx, enterpriseId, 'b'),
  };
  const defaultModels = { demo: planters.a.canary('model') };
  const data = { ...limits, allowedTags: ['walk', planters.a.canary('tag')], defaultTag: 'walk', defaultModels };
  await tx.prisma.organization.update({ where: { id: ids.a }, data });
  const gone = createTenantSeeder(test, tx, enterpriseId, 'd');
  await createOrganization(tx, planters.b, { id: ids.b, enterpriseId, createdAt });
  await createOrganization(tx, gone, { id: ids.d, enterpriseId, createdAt, deletedAt: createdAt });
  const a = await seedOrganization(planters.a, ids.a);
  const b = await seedOrganization(planters.b, ids.b);
  const d = await seedOrganization(gone, ids.d);
  const e = await seedEnterprise(createTenantSeeder(test, tx, enterpriseId, 'e'), ids.a);
  const { x, xe } = await seedForeignEnterprise(test, tx, { enterpriseId: ids.enterprise, organizationId: ids.x });
  const dead = { ...(await seedDead(planters.a, ids.a)), 'of a deleted organization': d.serviceKey };
  return { a, b, x, e, xe, dead };
}

const limits = { maxCycleAcuLimit: 100, maxSessionAcuLimit: 10 };

async function createOrganization(
  tx: Transaction,
  seeder: TenantSeeder,
  row: { id: string; enterpriseId: string; createdAt: Date; deletedAt?: Date },
): Promise<void> {
  await tx.prisma.organization.create({
    data: {
      ...row,
      name: seeder.canary('organization'),
      updatedAt: row.createdAt,
      ...limits,
      allowedTags: ['walk', seeder.canary('tag')],
      defaultModels: { demo: seeder.canary('model') },
    },
  });
}

/** Writes another enterprise with one organization, which have the same kinds of objects as those of the tests. */
export async function seedForeignEnterprise(
  test: TestApp,
  tx: Transaction,
  ids: { enterpriseId: string; organizationId: string },
): Promise<Pick<World, 'x' | 'xe'>> {
  const createdAt = test.app.services.now();
  const seeder = createTenantSeeder(test, tx, ids.enterpriseId, 'x');
  const name = seeder.canary('enterprise');
  await tx.prisma.enterprise.create({ data: { id: ids.enterpriseId, name, ipRanges: xRanges, createdAt } });
  await createOrganization(tx, seeder, { id: ids.organizationId, enterpriseId: ids.enterpriseId, createdAt });
  const x = await seedOrganization(seeder, ids.organizationId);
  return { x, xe: await seedEnterprise(seeder, ids.organizationId) };
}

/** The addresses of the tests, and an address that only X has. */
const xRanges = ['127.0.0.0/8', '::1/128', '203.0.113.7/32'];

const seesAndManagesRobots = ['ViewOrgSessions', 'ViewOrgMembership', 'ManageOrgServiceUsers'];

async function seedOrganization(seeder: TenantSeeder, organizationId: string): Promise<OrganizationTokens> {
  const member = await seeder.user('member', { roleId: 'org_member', organizationId });
  const orgAdmin = await seeder.user('admin', { roleId: 'org_admin', organizationId });
  const roleId = await seeder.role('organization', seesAndManagesRobots);
  const custom = await seeder.user('custom', { roleId, organizationId });
  const robot = await seeder.serviceUser('robot', { roleId: 'org_admin', organizationId });
  const serviceKey = await seeder.key('SERVICE', { organizationId, roleId: 'org_admin' });
  const { playbookId, automationId } = await seeder.resources(organizationId, member, serviceKey.id);
  const parentId = await seeder.session(organizationId, { userId: member, playbookId, automationId });
  const child = await seeder.session(organizationId, { serviceUserId: robot, parentId, automationId, rest: 'asleep' });
  // A sub-session, so that unarchiveSessions finds one by its parent.
  await seeder.session(organizationId, { userId: member, playbookId, automationId, parentId, rest: 'archived' });
  // Waiting, unlike the other sub-session.
  await seeder.session(organizationId, { userId: member, playbookId, parentId });
  await seeder.auditEntry(organizationId, { userId: member, sessionId: child });
  const token = async (kind: Parameters<TenantSeeder['key']>[0], owner: Parameters<TenantSeeder['key']>[1]) =>
    (await seeder.key(kind, owner)).token;
  return {
    member: await token('PERSONAL_ACCESS_TOKEN', { userId: member }),
    memberV1: await token('PERSONAL', { userId: member, organizationId }),
    orgAdmin: await token('PERSONAL_ACCESS_TOKEN', { userId: orgAdmin }),
    custom: await token('PERSONAL_ACCESS_TOKEN', { userId: custom }),
    serviceKey: serviceKey.token,
    serviceUser: await token('SERVICE_USER', { serviceUserId: robot, organizationId }),
  };
}

const seesAndManagesPeople = ['ReadAccountMeta', 'ViewAccountMembership', 'ManageAccountMembership'];

async function seedEnterprise(seeder: TenantSeeder, within: string): Promise<EnterpriseTokens> {
  const organizationId = null;
  const accountAdmin = await seeder.user('account-admin', { roleId: 'account_admin', organizationId });
  const accountMember = await seeder.user('account-member', { roleId: 'account_member', organizationId });
  const roleId = await seeder.role('enterprise', seesAndManagesPeople);
  // An unassigned role, which can be deleted.
  await seeder.role('organization', ['ViewOrgSessions']);
  const peopleManager = await seeder.user('people-manager', { roleId, organizationId });
  const robot = await seeder.serviceUser('enterprise-robot', { roleId: 'account_admin', organizationId });
  await seeder.auditEntry(null, { userId: accountAdmin });
  await seeder.agentProgram();
  await seeder.ofEnterprise(accountAdmin);
  const pat = async (userId: string) => (await seeder.key('PERSONAL_ACCESS_TOKEN', { userId })).token;
  const v1 = await seeder.key('PERSONAL', { userId: accountAdmin, organizationId: within });
  const serviceKey = await seeder.key('SERVICE', { roleId: 'account_admin' });
  const serviceUser = await seeder.key('SERVICE_USER', { serviceUserId: robot });
  return {
    accountAdmin: await pat(accountAdmin),
    accountAdminV1: v1.token,
    accountMember: await pat(accountMember),
    peopleManager: await pat(peopleManager),
    serviceKey: serviceKey.token,
    serviceUser: serviceUser.token,
  };
}

async function seedDead(seeder: TenantSeeder, organizationId: string): Promise<Record<string, string>> {
  const role = { roleId: 'org_admin', organizationId };
  const user = await seeder.user('dead-keys', role);
  const robot = await seeder.serviceUser('dead-keys', role);
  const goneUser = await seeder.user('gone', null, 'deleted');
  const inactiveUser = await seeder.user('inactive', role, 'deactivated');
  const goneRobot = await seeder.serviceUser('gone', role, true);
  const dead: Record<string, string> = {};
  const ends = ['expired', 'revoked'] as const;
  for (const end of ends) {
    dead[`${end} personal access token`] = (await seeder.key('PERSONAL_ACCESS_TOKEN', { userId: user, end })).token;
    dead[`${end} personal key`] = (await seeder.key('PERSONAL', { userId: user, organizationId, end })).token;
    dead[`${end} service key`] = (await seeder.key('SERVICE', { organizationId, roleId: 'org_admin', end })).token;
    dead[`${end} service user’s`] = (
      await seeder.key('SERVICE_USER', { serviceUserId: robot, organizationId, end })
    ).token;
  }
  dead['of a deleted user'] = (await seeder.key('PERSONAL_ACCESS_TOKEN', { userId: goneUser })).token;
  dead['v1, of a deleted user'] = (await seeder.key('PERSONAL', { userId: goneUser, organizationId })).token;
  dead['of a deactivated user'] = (await seeder.key('PERSONAL_ACCESS_TOKEN', { userId: inactiveUser })).token;
  dead['v1, of a deactivated user'] = (await seeder.key('PERSONAL', { userId: inactiveUser, organizationId })).token;
  dead['of a deleted service user'] = (
    await seeder.key('SERVICE_USER', { serviceUserId: goneRobot, organizationId })
  ).token;
  return dead;
}
