import { beforeEach, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { findStoredProviders, resolveStoredKey } from '../../src/domain/library/provider-keys/resolve.ts';
import { describeKey, providerKeyAssociatedData } from '../../src/domain/library/provider-keys/stored-key.ts';
import { type ModelProvider, modelProviders } from '../../src/providers/model-providers.ts';
import type { Row } from '../../src/store/tables.ts';
import { makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
const services = () => test.app.services;

let enterpriseId: string;
let organizationId: string;
let userId: string;
beforeEach(async () => {
  const { prisma } = services().store;
  organizationId = (await makeOrganization(test, newId())).organizationId.replace('org-', '');
  ({ enterpriseId } = await prisma.organization.findUniqueOrThrow({ where: { id: organizationId } }));
  userId = newId();
  const now = services().now();
  await prisma.user.create({ data: { id: userId, enterpriseId, email: `${userId}@example.com`, createdAt: now } });
  await assign('org_member', organizationId);
});

async function assign(roleId: string, organization: string | null): Promise<void> {
  const data = { id: newId(), enterpriseId, organizationId: organization, userId, roleId, createdAt: services().now() };
  await services().store.prisma.roleAssignment.create({ data });
}

async function store(name: string, values: Partial<Row<'ProviderKey'>> = {}): Promise<string> {
  const id = newId();
  const now = services().now();
  const sealed = services().keyring.seal(`key of ${name}`, providerKeyAssociatedData(enterpriseId, id));
  const { lastFailure: _none, ...rest } = values;
  const data = { id, enterpriseId, provider: 'openai', name, sealed, createdAt: now, updatedAt: now, ...rest };
  await services().store.prisma.providerKey.create({ data });
  return id;
}
const change = (id: string, data: object) => services().store.prisma.providerKey.update({ where: { id }, data });

const resolve = (providers: readonly ModelProvider[] = modelProviders, user: string | null = userId) =>
  resolveStoredKey(services(), { organizationId, userId: user, providers });
const keyOf = async (...args: Parameters<typeof resolve>) => (await resolve(...args))?.key ?? null;
const disableEnterpriseKeys = () =>
  services().store.execute(
    'update provider_key set is_enabled = false where organization_id is null and owner_user_id is null',
    [],
  );

it('prefers the key of the user, then of the organization, then of the enterprise', async () => {
  expect(await keyOf()).toBeNull();
  await store('enterprise');
  expect(await keyOf()).toBe('key of enterprise');
  const shared = await store('organization', { organizationId });
  expect(await keyOf()).toBe('key of organization');
  const own = await store('user', { ownerUserId: userId });
  expect(await resolve()).toMatchObject({
    id: own,
    scope: 'USER',
    key: 'key of user',
    provider: 'openai',
    baseUrl: null,
  });
  expect(await keyOf(modelProviders, null)).toBe('key of organization');
  expect(await keyOf(modelProviders, newId())).toBe('key of organization');
  await change(own, { isEnabled: false });
  await change(shared, { deletedAt: services().now(), sealed: null });
  expect(await keyOf()).toBe('key of enterprise');
  await disableEnterpriseKeys();
  expect(await keyOf()).toBeNull();
});

it('takes the first provider of the list, then the oldest key', async () => {
  const at = (minutes: number) => new Date(Date.UTC(2026, 0, 1, 0, minutes));
  await store('second', { organizationId, createdAt: at(2) });
  await store('first', { organizationId, createdAt: at(1) });
  await store('other', { organizationId, provider: 'anthropic', createdAt: at(0) });
  expect(await keyOf(['openai', 'anthropic'])).toBe('key of first');
  expect(await keyOf(['anthropic', 'openai'])).toBe('key of other');
  expect(await keyOf(['google'])).toBeNull();
  expect(await keyOf([])).toBeNull();
});

it('uses a user’s key in an organization only while the user may use sessions there', async () => {
  await store('own', { ownerUserId: userId });
  expect(await keyOf()).toBe('key of own');
  const { prisma } = services().store;
  await prisma.roleAssignment.deleteMany({ where: { userId } });
  expect(await keyOf()).toBeNull();
  await assign('account_member', null);
  expect(await keyOf()).toBeNull();
  await prisma.roleAssignment.deleteMany({ where: { userId } });
  await assign('account_admin', null);
  expect(await keyOf()).toBe('key of own');
  await prisma.user.update({ where: { id: userId }, data: { deletedAt: services().now() } });
  expect(await keyOf()).toBeNull();
});

it('never uses a key of another organization or enterprise, or in a deleted organization', async () => {
  const other = (await makeOrganization(test, newId())).organizationId.replace('org-', '');
  await store('other organization', { organizationId: other });
  await store('other enterprise', { enterpriseId: newId() });
  await store('other user', { ownerUserId: newId() });
  expect(await keyOf()).toBeNull();
  await disableEnterpriseKeys();
  await store('own', { organizationId });
  expect(await keyOf()).toBe('key of own');
  await services().store.prisma.organization.update({
    where: { id: organizationId },
    data: { deletedAt: services().now() },
  });
  expect(await keyOf()).toBeNull();
});

it('adds up the cost of the month in UTC of a key with a budget', async () => {
  const id = await store('own', { organizationId });
  expect(await resolve()).toMatchObject({ monthlyBudgetUsd: null, spentThisMonthUsd: null });
  await change(id, { monthlyBudgetUsd: 10, inputUsdPerMillion: 2 });
  expect(await resolve()).toMatchObject({ monthlyBudgetUsd: 10, spentThisMonthUsd: 0, inputUsdPerMillion: 2 });
  const month = services().now().toISOString().slice(0, 7);
  const first = new Date(`${month}-01`);
  const days = [first, new Date(first.getTime() - 24 * 60 * 60 * 1_000)];
  await services().store.prisma.providerKeyUsage.createMany({
    data: days.flatMap((day) =>
      ['', userId].map((user) => ({ providerKeyId: id, day, organizationId, userId: user, costUsd: 1.5 })),
    ),
  });
  expect(await resolve()).toMatchObject({ spentThisMonthUsd: 3 });
});

it('finds the providers with keys for each owner', async () => {
  await store('a', { ownerUserId: userId, provider: 'google' });
  await store('b', { organizationId });
  await store('c', { organizationId });
  await store('d', { organizationId, provider: 'anthropic', isEnabled: false });
  const enterprise = await store('e', { provider: 'openrouter' });
  expect(await findStoredProviders(services(), { organizationId, userId })).toEqual([
    { provider: 'google', scope: 'USER' },
    { provider: 'openai', scope: 'ORGANIZATION' },
    { provider: 'openrouter', scope: 'ENTERPRISE' },
  ]);
  expect(await findStoredProviders(services(), null)).toEqual([{ provider: 'openrouter', scope: 'ENTERPRISE' }]);
  await change(enterprise, { isEnabled: false });
  expect(await findStoredProviders(services(), null)).toEqual([]);
});

it('names a key and its owner in messages', () => {
  expect(describeKey({ name: 'Team', scope: 'ORGANIZATION' })).toBe('the key "Team" of the organization');
});
