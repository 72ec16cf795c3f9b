import { expect, it } from 'vitest';
import { makeOrganization } from '../support/sessions.ts';
import { gql, query } from '../support/typed-graphql.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const viewerQuery = gql(`query {
  viewer { principalType user { email } serviceUser { name } organization { organizationId } permissions }
  enterprise { name }
  organizations(first: 10) { nodes { organizationId } }
}`);

it('returns the administrator, who belongs to the enterprise', async () => {
  const { viewer, enterprise } = await query(test, test.adminToken, viewerQuery, {});
  expect(viewer).toMatchObject({
    principalType: 'SERVICE_USER',
    user: null,
    serviceUser: { name: 'Administrator' },
    organization: null,
  });
  expect(viewer.permissions).toEqual(
    expect.arrayContaining(['MANAGE_ORGANIZATIONS', 'USE_SESSIONS', 'IMPERSONATE_ORG_SESSIONS']),
  );
  expect(enterprise).toEqual({ name: 'Switchyard' });
});

it('returns the first user for its v1 key, which acts in one organization', async () => {
  const { viewer, enterprise, organizations } = await query(test, test.v1Key, viewerQuery, {});
  const organizationId = `org-${test.organizationId}`;
  expect(viewer).toMatchObject({
    principalType: 'USER',
    user: { email: 'admin@localhost' },
    organization: { organizationId },
  });
  expect(enterprise).toBeNull();
  expect(organizations.nodes).toEqual([{ organizationId }]);
});

it('returns a service user of an organization, which sees no other', async () => {
  const { token, organizationId } = await makeOrganization(test, 'Third');
  const { viewer, enterprise, organizations } = await query(test, token, viewerQuery, {});
  expect(viewer).toMatchObject({
    principalType: 'SERVICE_USER',
    serviceUser: { name: 'Third bot' },
    organization: { organizationId },
  });
  expect(viewer.permissions).not.toContain('MANAGE_ORGANIZATIONS');
  expect(enterprise).toBeNull();
  expect(organizations.nodes).toEqual([{ organizationId }]);
});

const makeKey = gql(`mutation($input: CreateApiKeyInput!) {
  createApiKey(input: $input) { token apiKey { kind name display } userErrors { code path } }
}`);

it('returns a service key, which acts for itself', async () => {
  const { organizationId } = test;
  const input = { kind: { service: { scope: { organizationId }, roleId: 'org_admin' } }, name: 'ci' };
  const { createApiKey } = await query(test, test.adminToken, makeKey, { input });
  expect(createApiKey).toMatchObject({ apiKey: { kind: 'SERVICE', name: 'ci' }, userErrors: [] });
  expect(createApiKey?.token).toMatch(/^apk_[a-z2-7]{52}$/);
  expect(createApiKey?.token).toContain(createApiKey?.apiKey?.display.replace('…', ''));
  const { viewer } = await query(test, createApiKey?.token ?? '', viewerQuery, {});
  expect(viewer).toMatchObject({
    principalType: 'SERVICE_KEY',
    user: null,
    serviceUser: null,
    organization: { organizationId: `org-${test.organizationId}` },
  });
});

it('requires the owner of a personal key if the caller is not a user', async () => {
  const { createApiKey } = await query(test, test.adminToken, makeKey, {
    input: { kind: { personal: {} }, name: 'mine' },
  });
  expect(createApiKey).toMatchObject({
    token: null,
    userErrors: [{ code: 'INVALID_INPUT', path: ['input', 'kind', 'personal', 'userId'] }],
  });
});
