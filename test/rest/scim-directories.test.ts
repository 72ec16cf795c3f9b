import { expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { runMutation } from '../support/people.ts';
import { makeKey } from '../support/principals.ts';
import { filtered, patchOf, scim, scimUris } from '../support/scim.ts';
import { useApp } from '../support/use-app.ts';
import { makeServiceUser } from './rest-app.ts';

// The requests are those that the documentation of Okta and Entra ID shows, in their order.

const test = useApp();

const enterpriseSchema = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

/** Creates the token of a directory, and returns a function that sends its requests. */
async function connectDirectory() {
  const { token } = await makeServiceUser(test, { roleId: 'account_admin' });
  return async (method: string, path: string, body?: unknown) => {
    const answer = await scim(test, token, method, path, body);
    return { status: answer.status, body: answer.body };
  };
}

/** Gives a group the role of members in the first organization. */
async function grant(idpGroupId: string): Promise<void> {
  const scopes = [
    [{ enterprise: true }, 'account_member'],
    [{ organizationId: `org-${test.organizationId}` }, 'org_member'],
  ];
  for (const [scope, roleId] of scopes) {
    await runMutation(test, 'assignIdpGroupRole', 'idpGroup { name }', { idpGroupId, scope, roleId });
  }
}

/** Returns whether a token may use sessions; null: it is not valid. */
async function mayWork(token: string): Promise<boolean | null> {
  const { status, data } = await graphql(test, token, '{ organizations(first: 5) { nodes { viewerPermissions } } }');
  if (status === 401) return null;
  return data.organizations.nodes.some((each: any) => each.viewerPermissions.includes('USE_SESSIONS'));
}

it('serves Okta from the first request to the deletion', async () => {
  const okta = await connectDirectory();
  const userName = 'test.user@okta.example';
  expect(await okta('GET', '/Users?startIndex=1&count=2')).toMatchObject({ status: 200, body: { startIndex: 1 } });
  const none = await okta('GET', filtered('Users', `userName eq "${userName}"`, '&startIndex=1&count=100'));
  expect(none).toEqual({
    status: 200,
    body: { schemas: [scimUris.list], totalResults: 0, startIndex: 1, itemsPerPage: 0, Resources: [] },
  });
  const profile = {
    schemas: [scimUris.user],
    userName,
    name: { givenName: 'Test', familyName: 'User' },
    emails: [{ primary: true, value: userName, type: 'work' }],
    displayName: 'Test User',
    locale: 'en-US',
    externalId: '00ujl29u0le5T6Aj10h7',
    groups: [],
    password: '1mz050nq',
    active: true,
  };
  const { status, body: user } = await okta('POST', '/Users', profile);
  expect([status, user]).toMatchObject([201, { userName, externalId: profile.externalId, active: true }]);
  expect(JSON.stringify(user)).not.toContain(profile.password);
  expect((await okta('POST', '/Users', profile)).status).toBe(409);
  const found = await okta('GET', filtered('Users', `userName eq "${userName}"`, '&startIndex=1&count=100'));
  expect(found.body.Resources).toEqual([user]);
  const token = await makeKey(test, { kind: 'PERSONAL_ACCESS_TOKEN', userId: user.id });

  expect((await okta('GET', '/Groups?startIndex=1&count=100')).status).toBe(200);
  const group = { schemas: [scimUris.group], displayName: 'Test SCIMv2', members: [] };
  expect(
    (await okta('GET', filtered('Groups', 'displayName eq "Test SCIMv2"', '&startIndex=1&count=100'))).body
      .totalResults,
  ).toBe(0);
  const { body: created } = await okta('POST', '/Groups', group);
  expect(created).toMatchObject({ displayName: 'Test SCIMv2', members: [] });
  await grant(created.id);
  const ofGroup = `/Groups/${created.id}`;
  const renamed = patchOf({ op: 'replace', value: { id: created.id, displayName: 'Engineering' } });
  expect((await okta('PATCH', ofGroup, renamed)).status).toBe(204);
  const joins = patchOf(
    { op: 'remove', path: 'members[value eq "89bb1940-b905-4575-9e7f-6f887cfb368e"]' },
    { op: 'add', path: 'members', value: [{ value: user.id, display: userName }] },
  );
  expect((await okta('PATCH', ofGroup, joins)).status).toBe(204);
  expect((await okta('GET', ofGroup)).body).toMatchObject({
    displayName: 'Engineering',
    members: [{ value: user.id, display: userName }],
  });
  expect(await mayWork(token)).toBe(true);

  const ofUser = `/Users/${user.id}`;
  const replaced = await okta('PUT', ofUser, {
    ...profile,
    id: user.id,
    name: { givenName: 'Another', middleName: 'Excited', familyName: 'User' },
    displayName: undefined,
    meta: { resourceType: 'User' },
  });
  expect(replaced).toMatchObject({
    status: 200,
    body: { displayName: 'Another User', externalId: profile.externalId },
  });
  const deactivated = await okta('PATCH', ofUser, patchOf({ op: 'replace', value: { active: false } }));
  expect(deactivated).toMatchObject({ status: 200, body: { active: false } });
  expect(await mayWork(token)).toBeNull();
  expect((await okta('GET', ofUser)).body.active).toBe(false);
  await okta('PATCH', ofUser, patchOf({ op: 'replace', value: { active: true } }));
  expect(await mayWork(token)).toBe(true);
  expect(
    (await okta('PUT', ofGroup, { ...group, id: created.id, displayName: 'Engineering', members: [] })).status,
  ).toBe(200);
  expect(await mayWork(token)).toBe(false);
  expect((await okta('DELETE', ofGroup)).status).toBe(204);
  expect((await okta('DELETE', ofUser)).status).toBe(204);
  expect(await okta('GET', ofUser)).toMatchObject({ status: 404, body: { schemas: [scimUris.error], status: '404' } });
  expect(await mayWork(token)).toBeNull();
});

it('serves Entra ID from the test of the connection to the deletion', async () => {
  const entra = await connectDirectory();
  const unknown = 'e9e30dba-f08f-4109-8486-d5c6a331660a';
  const tested = await entra('GET', filtered('Users', `userName eq "${unknown}"`));
  expect(tested).toMatchObject({ status: 200, body: { totalResults: 0, Resources: [] } });
  const userName = 'Test_User_ab6490ee@testuser.example';
  const externalId = '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef';
  const { status, body: user } = await entra('POST', '/Users', {
    schemas: [scimUris.user, enterpriseSchema],
    externalId,
    userName,
    active: true,
    emails: [{ primary: true, type: 'work', value: userName }],
    meta: { resourceType: 'User' },
    name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
    roles: [],
    [enterpriseSchema]: { department: 'Sales' },
  });
  expect([status, user]).toMatchObject([
    201,
    { externalId, userName, name: { formatted: 'givenName familyName' }, emails: [{ value: userName, type: 'work' }] },
  ]);
  const ofUser = `/Users/${user.id}`;
  expect((await entra('GET', ofUser)).body).toEqual(user);
  const otherCase = await entra('GET', filtered('Users', `userName eq "${userName.toLowerCase()}"`));
  expect(otherCase.body.Resources).toEqual([user]);
  expect((await entra('GET', filtered('Users', `externalId eq "${externalId}"`))).body.totalResults).toBe(1);
  const changed = await entra(
    'PATCH',
    ofUser,
    patchOf(
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updatedEmail@testuser.example' },
      { op: 'Replace', path: 'name.familyName', value: 'updatedFamilyName' },
      { op: 'Add', path: `${enterpriseSchema}:department`, value: 'Marketing' },
      { op: 'Add', path: 'displayName', value: 'Updated Name' },
    ),
  );
  expect(changed).toMatchObject({
    status: 200,
    body: { name: { familyName: 'updatedFamilyName', givenName: 'givenName' }, displayName: 'Updated Name' },
  });
  const renamed = await entra(
    'PATCH',
    ofUser,
    patchOf({ op: 'Replace', path: 'userName', value: '5b50642d-79fc-4410-9e90-4c077cdd1a59@testuser.example' }),
  );
  expect(renamed).toMatchObject({
    status: 200,
    body: { emails: [{ value: '5b50642d-79fc-4410-9e90-4c077cdd1a59@testuser.example' }] },
  });
  const token = await makeKey(test, { kind: 'PERSONAL_ACCESS_TOKEN', userId: user.id });

  const { body: group, status: made } = await entra('POST', '/Groups', {
    schemas: [scimUris.group, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
    externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
    displayName: 'displayName',
    meta: { resourceType: 'Group' },
  });
  expect([made, group]).toMatchObject([201, { displayName: 'displayName', members: [] }]);
  await grant(group.id);
  const ofGroup = `/Groups/${group.id}`;
  const shown = await entra('GET', `${ofGroup}?excludedAttributes=members`);
  expect(shown).toMatchObject({ status: 200, body: { id: group.id, displayName: 'displayName' } });
  expect(shown.body).not.toHaveProperty('members');
  const search = filtered('Groups', 'displayName eq "displayName"', '&excludedAttributes=members');
  expect((await entra('GET', search)).body).toMatchObject({ totalResults: 1, Resources: [{ id: group.id }] });
  const attribute = patchOf({
    op: 'Replace',
    path: 'displayName',
    value: '1879db59-3bdf-4490-ad68-ab880a269474updatedDisplayName',
  });
  expect((await entra('PATCH', ofGroup, attribute)).status).toBe(204);
  const members = [{ $ref: null, value: user.id }];
  expect((await entra('PATCH', ofGroup, patchOf({ op: 'Add', path: 'members', value: members }))).status).toBe(204);
  const isMember = filtered('Groups', `id eq "${group.id}" and members eq "${user.id}"`, '&excludedAttributes=members');
  expect((await entra('GET', isMember)).body.totalResults).toBe(1);
  expect(await mayWork(token)).toBe(true);

  const disable = patchOf({ op: 'Replace', path: 'active', value: 'False' });
  expect(await entra('PATCH', ofUser, disable)).toMatchObject({ status: 200, body: { active: false } });
  expect(await mayWork(token)).toBeNull();
  const disabled = await entra('GET', filtered('Users', `externalId eq "${externalId}"`));
  expect(disabled.body.Resources).toMatchObject([{ id: user.id, active: false }]);
  expect((await entra('PATCH', ofUser, patchOf({ op: 'Replace', path: 'active', value: 'True' }))).body.active).toBe(
    true,
  );
  expect(await mayWork(token)).toBe(true);
  expect((await entra('PATCH', ofGroup, patchOf({ op: 'Remove', path: 'members', value: members }))).status).toBe(204);
  expect(await mayWork(token)).toBe(false);
  expect((await entra('DELETE', ofGroup)).status).toBe(204);
  expect((await entra('DELETE', ofUser)).status).toBe(204);
  expect((await entra('GET', ofUser)).status).toBe(404);
});
