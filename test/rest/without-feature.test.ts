import { beforeAll, expect, test } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { useApp } from '../support/use-app.ts';
import { call, makeOrganization, makeServiceUser } from './rest-app.ts';

const app = useApp();
let organizationId: string;
let otherId: string;
/** Has the role org_admin in the organization only. */
let orgAdmin: string;
/** Has the role account_member: sees the list of organizations only. */
let member: string;
beforeAll(async () => {
  organizationId = await makeOrganization(app);
  otherId = await makeOrganization(app);
  orgAdmin = (await makeServiceUser(app, { organizationId, roleId: 'org_admin' })).token;
  member = (await makeServiceUser(app, { roleId: 'account_member' })).token;
});

const emptyPage = { items: [], end_cursor: null, has_next_page: false, total: null };
const enterprise = '/v3/enterprise';
const managed = '/v3/enterprise/organizations/{org_id}';
const own = '/v3/organizations/{org_id}';
const beta = '/v3beta1/organizations/{org_id}';
const at = (path: string, id = organizationId) => path.replace('{org_id}', id);

const pages = [
  [`${enterprise}/idp-groups`, 'ViewAccountMembership'],
  [`${enterprise}/members/idp-groups`, 'ViewAccountMembership'],
  [`${enterprise}/members/idp-users`, 'ViewAccountMembership'],
  [`${managed}/members/idp-groups`, 'ViewAccountMembership'],
  [`${managed}/members/idp-users`, 'ViewAccountMembership'],
  [`${own}/members/idp-users`, 'ViewOrgMembership'],
  [`${enterprise}/hypervisors`, 'ViewAccountMetrics'],
  ['/v3beta1/enterprise/guardrail-violations', 'ManageEnterpriseSettings'],
  ['/v3beta1/enterprise/organizations/{org_id}/guardrail-violations', 'ManageEnterpriseSettings'],
  [`${beta}/repositories/indexing`, 'ViewOrgSessions'],
] as const;

/** The administrator's response of each route that is not a list: the status and the sentence. */
const others = [
  ['DELETE', `${enterprise}/idp-groups/a`, undefined, 404, 'There is no such IdP group.'],
  ...[`${enterprise}/members/idp-groups/a%2Fb`, `${managed}/members/idp-groups/a`].flatMap(
    (path) =>
      [
        ['GET', path, undefined, 404, 'There is no such IdP group.'],
        ['POST', path, { role_id: 'org_member' }, 404, 'There is no such IdP group.'],
        ['PATCH', path, { role_id: 'org_member' }, 404, 'There is no such IdP group.'],
        ['DELETE', path, undefined, 404, 'There is no such IdP group.'],
      ] as const,
  ),
  ['GET', `${enterprise}/org-group-limits`, undefined, 404, 'There is no such limit of organization groups.'],
  ['PUT', `${enterprise}/org-group-limits`, { groups: {} }, 404, 'There is no such limit of organization groups.'],
  ['PUT', `${beta}/repositories/indexing`, {}, 409, 'This installation does not index repositories.'],
  ['DELETE', `${beta}/repositories/indexing`, undefined, 409, 'This installation does not index repositories.'],
  ['PUT', `${beta}/repositories/a%2Fb/indexing`, {}, 404, 'There is no such repository.'],
  ['DELETE', `${beta}/repositories/a%2Fb/indexing`, undefined, 404, 'There is no such repository.'],
  ['GET', `${beta}/repositories/a%2Fb/indexing`, undefined, 404, 'There is no such repository.'],
  ['GET', `${beta}/repositories/group/sub/repo/indexing`, undefined, 404, 'There is no such repository.'],
  ...[
    'a%2Fb/indexing/branches/main',
    'a%2Fb/indexing/branches/feature%2Fx',
    'a/b/indexing/branches/feature/x',
    'group/sub/repo/indexing/branches/release/1.0/indexing',
  ].map((path) => ['DELETE', `${beta}/repositories/${path}`, undefined, 404, 'There is no such repository.'] as const),
] as const;

test.each(pages)('GET %s: an empty page with %s, and 403 without it', async (path, permission) => {
  const first = await call(app, app.adminToken, 'GET', `${at(path)}?first=200&email=a@example.test`);
  expect(first).toMatchObject({ status: 200, body: emptyPage });
  const isOwn = path.includes('organizations/') && !path.includes('enterprise');
  if (isOwn) {
    expect((await call(app, orgAdmin, 'GET', at(path))).status).toBe(200);
    for (const id of [otherId, newId(), 'x']) {
      const { status, body } = await call(app, orgAdmin, 'GET', at(path, id));
      expect({ status, detail: body.detail }).toEqual({
        status: 403,
        detail: 'You do not have access to this organization.',
      });
    }
  } else {
    for (const token of [orgAdmin, member]) {
      const { status, body } = await call(app, token, 'GET', at(path));
      expect({ status, detail: body.detail }).toEqual({ status: 403, detail: `Missing permission ${permission}` });
    }
  }
  if (path.includes('{org_id}')) expect((await call(app, app.adminToken, 'GET', at(path, newId()))).status).toBe(404);
  for (const query of ['first=0', 'first=201', 'after=x']) {
    const { status, body } = await call(app, app.adminToken, 'GET', `${at(path)}?${query}`);
    expect({ query, status, loc: body.detail[0].loc }).toEqual({
      query,
      status: 422,
      loc: ['query', query.split('=')[0]],
    });
  }
});

test.each(others)('%s %s %j: %i, and 403 without the permission', async (method, path, body, status, detail) => {
  const answer = await call(app, app.adminToken, method, at(path), body);
  expect({ status: answer.status, detail: answer.body.detail }).toEqual({ status, detail });
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  expect((await call(app, member, method, at(path), body)).status).toBe(403);
});

test('422 for bodies of the wrong shape, before any other error', async () => {
  for (const [method, path, body, name] of [
    ['POST', `${enterprise}/idp-groups`, { idp_group_names: [] }, 'idp_group_names'],
    ['POST', `${enterprise}/idp-groups`, { idp_group_names: Array(101).fill('a') }, 'idp_group_names'],
    ['POST', `${enterprise}/members/idp-groups/a`, {}, 'role_id'],
    ['PUT', `${enterprise}/org-group-limits`, { groups: [] }, 'groups'],
  ] as const) {
    const answer = await call(app, app.adminToken, method, at(path), body);
    expect({ status: answer.status, loc: answer.body.detail[0].loc.slice(0, 2) }).toEqual({
      status: 422,
      loc: ['body', name],
    });
  }
});
