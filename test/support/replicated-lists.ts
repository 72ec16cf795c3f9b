import { call, graphql, type TestApp } from './app.ts';

const ofOrganization = (fields: string) => `query($id: ID!) { organization(id: $id) { ${fields} } }`;
const ofEnterprise = (fields: string) => `{ enterprise { ${fields} } }`;

/** Returns requests whose lists are read from replicas, for an organization by its unprefixed id: paths of REST, and documents of GraphQL. */
export const replicatedLists = (organizationId: string): Record<string, string> => ({
  'sessions of v3': `/v3/organizations/org-${organizationId}/sessions?first=2`,
  'sessions of v3 with a filter': `/v3/organizations/org-${organizationId}/sessions?tags=one&origins=api`,
  'enterprise sessions of v3': '/v3/enterprise/sessions?first=2',
  'later sessions of v1': '/v1/sessions?limit=2&offset=1',
  'audit log of v3': '/v3/enterprise/audit-logs',
  'ascending audit log of v3': '/v3/enterprise/audit-logs?order=asc&first=3',
  'audit log of an organization': `/v3/enterprise/organizations/org-${organizationId}/audit-logs`,
  'consumption of v3': '/v3/enterprise/consumption/daily',
  'users of v3': '/v3/enterprise/members/users',
  'members of v3': `/v3/organizations/org-${organizationId}/members/users`,
  'service users of v3': '/v3/enterprise/members/service-users',
  'sessions': ofOrganization('name sessions(first: 2) { nodes { id title } totalCount pageInfo { endCursor } }'),
  'sessions with a title': ofOrganization('sessions(filter: { search: "hello" }) { nodes { id title } }'),
  'sessions with a filter': ofOrganization(
    'sessions(filter: { or: [{ tags: ["one"] }, { isPinned: true }] }, orderBy: { field: UPDATED_AT, direction: ASC }) { nodes { id } }',
  ),
  'sessions across': '{ sessions(first: 2) { nodes { id } totalCount } }',
  'search': ofOrganization('sessionSearch(query: "hello") { nodes { session { id } } totalCount }'),
  'members': ofOrganization('members(first: 5) { nodes { id } totalCount }'),
  'users': ofEnterprise('users(first: 5) { nodes { id } totalCount }'),
  'audit log': ofEnterprise('auditLog(first: 5) { nodes { id action } totalCount }'),
  'metrics': ofEnterprise('metrics(from: "2020-01-01", to: "2020-12-31") { sessions { count } }'),
});

/** Sends one of the {@link replicatedLists} to an app. */
export async function answerOf(test: TestApp, token: string, list: string, organizationId: string) {
  if (list.startsWith('/')) {
    const { status, body } = await call(test, token, 'GET', list);
    return { status, body };
  }
  const body = await graphql(test, token, list, { id: `org-${organizationId}` });
  return { status: body.errors ? 422 : 200, body };
}
