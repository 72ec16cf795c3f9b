import { isEnumType } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { schema } from '../../src/api/graphql/schema/index.ts';
import { errorCatalogue } from '../../src/common/errors.ts';
import { graphql } from '../support/app.ts';
import { makeUser } from '../support/principals.ts';
import { makeOrganization } from '../support/sessions.ts';
import { transportNames, transports } from '../support/transports.ts';
import { readText, treeFiles } from '../support/tree.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
let other: { organizationId: string; token: string };
beforeAll(async () => {
  other = await makeOrganization(test, 'Other');
});

const codes = () => {
  const type = schema.getType('RequestErrorCode');
  return new Set(isEnumType(type) ? type.getValues().map(({ name }) => name) : []);
};

describe('RequestErrorCode', () => {
  it('has every refusal of the domain that reaches a client as an error', () => {
    const { ORGANIZATION_NOT_USABLE: _, ...reachable } = errorCatalogue;
    expect([...codes()]).toEqual(expect.arrayContaining(Object.keys(reachable)));
  });

  // Requests of tests through call() are checked too: see test/support/app.ts.
  it('has every code in the sources of the GraphQL API', () => {
    const files = treeFiles().filter((file) => file.startsWith('src/api/graphql/'));
    const written = files.flatMap((file) =>
      [...readText(file).matchAll(/(?:code: |failure\(\d+, |refused\(\s*)'([A-Z_]+)'/g)].map((match) => match[1]),
    );
    expect(new Set(written).size).toBeGreaterThan(10);
    expect(written.filter((code) => !codes().has(code ?? ''))).toEqual([]);
  });
});

describe('a missing permission', () => {
  it.each(transportNames)('is named by FORBIDDEN over %s', async (name) => {
    const query = `{ organization(id: "${other.organizationId}") { allowedTags } }`;
    const { errors } = await transports[name](test, other.token, { query });
    expect(errors).toMatchObject([
      {
        message: 'Missing permission MANAGE_ENTERPRISE_SETTINGS.',
        extensions: { code: 'FORBIDDEN', permission: 'MANAGE_ENTERPRISE_SETTINGS' },
      },
    ]);
  });

  it('is named in the refusal of a role that contains it', async () => {
    const create = (permission: string) => `mutation { createRole(input: {
      name: "with ${permission}", scope: ENTERPRISE, permissions: [${permission}] }) { role { id } } }`;
    const { data } = await graphql(test, test.adminToken, create('MANAGE_ACCOUNT_MEMBERSHIP'));
    const roleId = data.createRole.role.id;
    const { token } = await makeUser(test, { organizationId: null, roleId });
    expect((await graphql(test, token, create('MANAGE_BILLING'))).errors).toMatchObject([
      {
        message: 'You cannot act on a role with a permission that you lack: MANAGE_BILLING.',
        extensions: { code: 'FORBIDDEN', permission: 'MANAGE_BILLING' },
      },
    ]);
  });
});
