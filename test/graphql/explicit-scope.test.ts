import { isInputObjectType, isNonNullType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { schema } from '../../src/api/graphql/schema/index.ts';
import { daily, recurring, startSession } from '../support/automations.ts';
import { runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

/** Mutations that act in one organization, without it. */
const acts: [field: string, selection: string, input: Record<string, unknown>][] = [
  ['createSession', 'session { organization { organizationId } }', { prompt: 'say hello' }],
  [
    'createAutomation',
    'automation { organization { organizationId } }',
    { name: 'Sweep', triggers: [recurring(daily)], actions: [startSession] },
  ],
  ['createWebhookEndpoint', 'webhookEndpoint { organization { organizationId } }', { url: 'https://hooks.example/' }],
  ['createAttachmentUpload', 'attachmentUpload { url }', {}],
  ['archiveSessions', 'results { sessionId }', { selection: { filter: { isArchived: false } } }],
];

const secret = { key: 'K', type: 'KEY_VALUE', value: 'c4n4ry' };

describe('a request without an organization', () => {
  it('is refused for a key without an organization, with one organization and with two', async () => {
    const { token } = await makeUser(test, { roleId: 'org_admin' });
    const userErrors = async () => {
      const found: Record<string, unknown> = {};
      for (const [field, selection, input] of [...acts, ['createSecret', 'secret { key }', secret] as const]) {
        for (const [role, by] of Object.entries({ administrator: test.adminToken, user: token })) {
          found[`${field} by ${role}`] = (await runMutation(test, field, selection, input, by)).userErrors;
        }
      }
      return found;
    };
    const organizations = () =>
      test.app.services.store.query('select 1 from organization where enterprise_id = $1', [
        test.app.installation.enterpriseId,
      ]);
    expect(await organizations()).toHaveLength(1);
    const before = await userErrors();
    const refused = [{ code: 'INVALID_INPUT', path: ['input', 'organizationId'] }];
    for (const [name, errors] of Object.entries(before)) {
      expect({ name, errors }).toMatchObject({ name, errors: refused });
    }
    await makeOrganization(test, 'Another');
    expect(await userErrors()).toEqual(before);
  });

  it('is refused for a personal key of all organizations', async () => {
    const { token } = await makeUser(test);
    const input = { name: 'mine', kind: { personal: {} } };
    expect(await runMutation(test, 'createApiKey', 'token', input, token)).toMatchObject({
      token: null,
      userErrors: [{ code: 'INVALID_INPUT', path: ['input', 'kind', 'personal', 'organizationId'] }],
    });
  });

  it('means the organization of a key of one, even if there is another', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Bound');
    for (const name of ['First', 'Second']) {
      await createSession(test, {}, token);
      for (const [field, selection, input] of acts) {
        const payload = await runMutation(test, field, selection, input, token);
        expect({ field, errors: payload.userErrors }).toEqual({ field, errors: [] });
        const responseText = JSON.stringify(payload);
        if (selection.includes('organizationId')) expect(responseText).toContain(organizationId);
        if (field === 'archiveSessions') expect(payload.results.length).toBeGreaterThan(0);
        if (field === 'createAttachmentUpload') expect(responseText).toContain(organizationId.replace('org-', ''));
      }
      await makeOrganization(test, name);
    }
  });
});

describe('a scope', () => {
  it('gives the same error regardless of the existing organizations', async () => {
    const { organizationId } = await makeOrganization(test, 'Scoped');
    const make = async (scope: object, roleId: string) => {
      const selection = 'serviceUser { roleAssignments { nodes { role { roleId } organizationId } } }';
      const input = { name: 'Robot', scope, roleId };
      const { serviceUser, userErrors } = await runMutation(test, 'createServiceUser', selection, input);
      expect(userErrors).toEqual([]);
      return serviceUser.roleAssignments.nodes;
    };
    const inOne = [{ role: { roleId: 'org_member' }, organizationId }];
    const onAll = [{ role: { roleId: 'account_member' }, organizationId: null }];
    for (const name of ['Third', 'Fourth']) {
      expect(await make({ organizationId }, 'org_member')).toEqual(inOne);
      expect(await make({ enterprise: true }, 'account_member')).toEqual(onAll);
      await makeOrganization(test, name);
    }
  });

  it('grants nothing by omission: creations for others name the role and the scope', () => {
    const inputs = Object.values(schema.getTypeMap())
      .filter(isInputObjectType)
      .filter(({ name }) => !name.endsWith('Filter'));
    const fields = inputs.flatMap((type) =>
      Object.values(type.getFields()).map((field) => ({ path: `${type.name}.${field.name}`, ...field })),
    );
    const optional = (name: string) =>
      fields.filter((field) => field.name === name && !isNonNullType(field.type)).map(({ path }) => path);
    expect(optional('roleId')).toEqual([]);
    expect(optional('scope')).toEqual([]);
    expect(fields.filter(({ name }) => name === 'accessType')).toEqual([]);
    // A key that is bound to one organization may omit it; each description says so. Of some inputs, exactly one member must be set.
    const oneOfs = ['ScopeInput', 'ProviderKeyScopeInput', 'LegalHoldTargetInput'];
    const isScope = (path: string) => oneOfs.includes(path.split('.')[0] ?? '');
    for (const path of optional('organizationId').filter((each) => !isScope(each))) {
      const { description } = fields.find((field) => field.path === path) ?? {};
      expect(description, path).toContain('Required, unless the API key is bound to a single organization');
    }
  });
});
