import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { graphql, startApp } from '../support/app.ts';
import { giteaToken, startGitea } from '../support/forges/gitea.ts';
import { runMutation } from '../support/people.ts';
import { makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';
import { call } from './rest-app.ts';

const test = useApp({ isHttpForgeAllowed: true });
let gitea: Awaited<ReturnType<typeof startGitea>>;
let connection: { gitConnectionId: string };
let organizationId: string;

const mutate = (field: string, selection: string, input: Record<string, unknown>) =>
  runMutation(test, field, selection, input);
const connect = async (more: Record<string, unknown> = {}) => {
  const access = { providerType: 'GITEA_TOKEN', host: gitea.url, token: giteaToken };
  return mutate('createGitConnection', 'gitConnection { gitConnectionId hasCredential version }', {
    ...access,
    name: newId(),
    ...more,
  });
};
const get = (path: string) => call(test, test.adminToken, 'GET', path);
const connections = '/v3/enterprise/git-providers/connections';
const permissions = () => `/v3/enterprise/organizations/${organizationId}/git-providers/permissions`;

beforeAll(async () => {
  gitea = await startGitea();
  connection = (await connect({ name: 'Forge' })).gitConnection;
  organizationId = (await makeOrganization(test, newId())).organizationId;
});
afterAll(() => gitea.close());

it('lists connections, and the repositories that the forge shows', async () => {
  const host = new URL(gitea.url).host;
  const { body } = await get(connections);
  expect(body.items).toContainEqual({
    ...{ git_connection_id: connection.gitConnectionId, git_provider_type: 'gitea_token', host, name: 'Forge' },
    created_at: expect.any(Number),
  });
  const repositories = `${connections}/${connection.gitConnectionId}/repositories`;
  const page = await get(`${repositories}?filter_name=site`);
  expect(page).toMatchObject({
    status: 200,
    body: {
      items: [{ git_connection_host: host, provider_repository_id: '3', repo_name: 'site', repo_path: 'acme/site' }],
      ...{ end_cursor: null, has_next_page: false, total: null },
    },
  });
  expect((await get(`${connections}/${newId()}/repositories`)).status).toBe(404);
  expect((await get(`${repositories}?first=101`)).status).toBe(422);
  expect((await get(`${repositories}?after=x`)).status).toBe(422);
});

it('lists what the forge shows in GraphQL, asks it once a minute, and says why it does not answer', async () => {
  const { gitConnectionId } = (await connect()).gitConnection;
  const document = `query($id: ID!, $search: String, $first: Int, $after: String) { gitConnection(id: $id) {
    name repositories(search: $search, first: $first, after: $after) {
      nodes { path name description language defaultBranch webUrl isPrivate isArchived isPushAllowed updatedAt } endCursor hasNextPage } } }`;
  const read = (variables: object) => graphql(test, test.adminToken, document, { id: gitConnectionId, ...variables });
  const { data } = await read({ search: 'SITE' });
  expect(data.gitConnection.repositories).toEqual({
    nodes: [
      {
        ...{ path: 'acme/site', name: 'site', description: 'The site', language: null, defaultBranch: 'main' },
        ...{ webUrl: 'https://gitea.test/acme/site', isPrivate: true, isArchived: false, isPushAllowed: true },
        updatedAt: '2026-11-01T10:00:00.000Z',
      },
    ],
    ...{ endCursor: null, hasNextPage: false },
  });
  const count = gitea.requests.length;
  await read({ search: 'SITE' });
  expect(gitea.requests).toHaveLength(count);
  for (const [variables, code] of [
    [{ first: 0 }, 'INVALID_INPUT'],
    [{ first: 101 }, 'INVALID_INPUT'],
    [{ after: 'x' }, 'BAD_CURSOR'],
  ] as const) {
    const { errors } = await read(variables);
    expect({ variables, code: errors?.[0]?.extensions?.code }).toEqual({ variables, code });
  }
  gitea.intercept(() => ({ status: 500, body: { message: 'c4n4ry-of-the-forge' } }));
  const failed = await read({ search: 'other' });
  gitea.intercept(() => null);
  expect(failed.data.gitConnection).toMatchObject({ repositories: null });
  expect(failed.errors?.[0]?.extensions?.code).toBe('INVALID_STATE');
  expect(JSON.stringify(failed)).not.toMatch(/c4n4ry/);
});

it('limits the requests to forges that one principal causes', async () => {
  const limited = await startApp({ isHttpForgeAllowed: true, rateLimitProvider: 2 });
  try {
    const access = { providerType: 'GITEA_TOKEN', name: newId(), host: gitea.url, token: giteaToken };
    const made = await runMutation(limited, 'createGitConnection', 'gitConnection { id }', access);
    const document =
      'query($id: ID!, $search: String) { gitConnection(id: $id) { repositories(search: $search) { hasNextPage } } }';
    const codes = [];
    for (const search of ['a', 'b', 'c']) {
      const { errors } = await graphql(limited, limited.adminToken, document, { id: made.gitConnection.id, search });
      codes.push(errors?.[0]?.extensions?.code ?? null);
    }
    expect(codes).toEqual([null, null, 'RATE_LIMITED']);
  } finally {
    await limited.close();
  }
});

it('writes one audit entry for each permission of a bulk, in one statement', async () => {
  const { store } = test.app.services;
  const list = Array.from({ length: 50 }, (_, n) => ({
    ...{ git_connection_id: connection.gitConnectionId, repo_path: `bulk/r${n}` },
  }));
  const made = await call(test, test.adminToken, 'POST', permissions(), { permissions: list });
  const gone = await call(test, test.adminToken, 'DELETE', permissions());
  expect(gone.body).toHaveLength(50);
  const ids = made.body.map((each: any) => each.git_permission_id.replace('git-permission-', '')).sort();
  for (const action of ['create_git_permission', 'delete_git_permission']) {
    const entries = await store.prisma.auditEntry.findMany({ where: { action, targetId: { in: ids } } });
    expect(entries.map(({ targetId }) => targetId).sort()).toEqual(ids);
    expect(entries.map(({ data }) => (data as any).path).sort()).toEqual(list.map((each) => each.repo_path).sort());
    // The number of the statement in its transaction.
    const [{ count } = { count: null }] = await store.query<{ count: number }>(
      'select count(distinct cmin::text)::int as count from audit_entry where action = $1 and target_id = any($2::text[])',
      [action, ids],
    );
    expect(count).toBe(1);
  }
});

it('creates, lists, changes, replaces and clears permissions', async () => {
  const gitConnectionId = connection.gitConnectionId;
  const create = (method: string, list: object[]) =>
    call(test, test.adminToken, method, permissions(), { permissions: list });
  const made = await create('POST', [
    { git_connection_id: gitConnectionId, repo_path: 'acme/site.git' },
    { git_connection_id: gitConnectionId, group_prefix: 'team/', read_only: true },
    { git_connection_id: gitConnectionId, prefix_path: 'web-' },
  ]);
  expect(made.body).toMatchObject([
    {
      git_connection_id: gitConnectionId,
      repo_path: 'acme/site',
      group_prefix: null,
      prefix_path: null,
      read_only: false,
    },
    { repo_path: null, group_prefix: 'team', read_only: true },
    { prefix_path: 'web-' },
  ]);
  const [first] = made.body;
  expect((await get(permissions())).body.items).toHaveLength(3);
  const one = `${permissions()}/${first.git_permission_id}`;
  expect(await call(test, test.adminToken, 'PATCH', one, { read_only: true })).toMatchObject({
    status: 200,
    body: { ...first, read_only: true },
  });
  expect((await create('POST', [{ git_connection_id: gitConnectionId, repo_path: 'ACME/site' }])).status).toBe(409);
  const replaced = await create('PUT', [{ git_connection_id: gitConnectionId, group_prefix: 'acme' }]);
  expect(replaced.body).toMatchObject([{ group_prefix: 'acme' }]);
  expect((await get(permissions())).body.items).toEqual(replaced.body);
  expect((await call(test, test.adminToken, 'DELETE', one)).status).toBe(404);
  expect((await call(test, test.adminToken, 'DELETE', permissions())).body).toEqual(replaced.body);
  expect((await get(permissions())).body.items).toEqual([]);
});

it('refuses permissions without one path, with an invalid one, or for another connection; all or none', async () => {
  const gitConnectionId = connection.gitConnectionId;
  for (const [permission, status] of [
    [{ git_connection_id: gitConnectionId }, 422],
    [{ git_connection_id: gitConnectionId, repo_path: 'acme/site', group_prefix: 'acme' }, 422],
    [{ git_connection_id: gitConnectionId, repo_path: '../site' }, 422],
    [{ git_connection_id: gitConnectionId, group_prefix: 'a\u202eb' }, 422],
    [{ git_connection_id: newId(), repo_path: 'acme/site' }, 400],
  ] as const) {
    const list = [{ git_connection_id: gitConnectionId, prefix_path: 'whole' }, permission];
    const answer = await call(test, test.adminToken, 'POST', permissions(), { permissions: list });
    expect({ permission, status: answer.status }).toEqual({ permission, status });
  }
  const many = Array.from({ length: 201 }, (_, n) => ({ git_connection_id: gitConnectionId, repo_path: `acme/r${n}` }));
  expect((await call(test, test.adminToken, 'POST', permissions(), { permissions: many })).status).toBe(422);
  expect((await get(permissions())).body.items).toEqual([]);
});

it('uses no connection of another enterprise', async () => {
  const id = connection.gitConnectionId.replace('git-connection-', '');
  const { prisma } = test.app.services.store;
  const { enterpriseId } = await prisma.gitConnection.findUniqueOrThrow({ where: { id } });
  await prisma.gitConnection.update({ where: { id }, data: { enterpriseId: newId() } });
  const permission = { git_connection_id: connection.gitConnectionId, repo_path: 'acme/site' };
  const answer = await call(test, test.adminToken, 'POST', permissions(), { permissions: [permission] });
  expect({ status: answer.status, detail: answer.body.detail }).toEqual({
    status: 400,
    detail: 'There is no such git connection.',
  });
  expect((await get(`${connections}/${connection.gitConnectionId}/repositories`)).status).toBe(404);
  expect(JSON.stringify((await get(connections)).body)).not.toContain(connection.gitConnectionId);
  await prisma.gitConnection.update({ where: { id }, data: { enterpriseId } });
});

it('tests connections, and never returns or sends a credential elsewhere', async () => {
  const report = 'test { isOk code message report { identity { login } abilities { ability isGranted isRequired } } }';
  const access = { providerType: 'GITEA_TOKEN', host: gitea.url };
  const unsaved = await mutate('testGitConnection', report, { ...access, token: giteaToken });
  expect(unsaved.test).toMatchObject({ code: null, report: { identity: { login: 'robot' } } });
  expect(unsaved.test.report.abilities).toContainEqual({
    ability: 'COMMENTS',
    isGranted: false,
    isRequired: expect.any(Boolean),
  });
  const refused = await mutate('testGitConnection', report, { ...access, token: 'c4n4ry-wrong' });
  expect(refused.test).toMatchObject({ isOk: false, code: 'CREDENTIAL_REFUSED', report: null });
  expect(JSON.stringify([unsaved, refused])).not.toMatch(/c4n4ry/);

  const { gitConnectionId } = connection;
  const stored = await mutate(
    'testGitConnection',
    `${report} gitConnection { lastFailure { code } lastReport { warnings } }`,
    {
      gitConnectionId,
    },
  );
  expect(stored).toMatchObject({ test: { code: null }, gitConnection: { lastFailure: null, lastReport: {} } });
  const missing = await mutate('testGitConnection', report, { gitConnectionId, repositoryPath: 'acme/absent' });
  expect(missing.test).toMatchObject({ isOk: false, code: 'NOT_FOUND', report: { identity: { login: 'robot' } } });
  const moved = await mutate('updateGitConnection', 'gitConnection { host }', {
    gitConnectionId,
    host: 'evil.example',
  });
  expect(moved.userErrors).toMatchObject([{ code: 'INVALID_INPUT', path: ['input', 'token'] }]);
  const both = await mutate('testGitConnection', report, { gitConnectionId, host: 'evil.example' });
  expect(both.userErrors).toMatchObject([{ path: ['input', 'gitConnectionId'] }]);
});

it('does not test a plain git server without a repository, and says so', async () => {
  const access = { providerType: 'GIT_HTTPS', host: gitea.url, username: 'bot', token: 'c4n4ry-wrong' };
  const userErrors = [{ code: 'INVALID_INPUT', path: ['input', 'repositoryPath'] }];
  const selection = 'test { isOk }';
  for (const repositoryPath of [undefined, null, ' ']) {
    const unsaved = await mutate('testGitConnection', selection, { ...access, repositoryPath });
    expect(unsaved).toMatchObject({ test: null, userErrors });
  }
  const { gitConnectionId } = (await connect(access)).gitConnection;
  expect(await mutate('testGitConnection', selection, { gitConnectionId })).toMatchObject({ test: null, userErrors });
  const { data } = await graphql(test, test.adminToken, 'query($id: ID!) { gitConnection(id: $id) { lastTestedAt } }', {
    id: gitConnectionId,
  });
  expect(data.gitConnection.lastTestedAt).toBeNull();
});

it('erases the credential and the permissions of a deleted connection', async () => {
  const { gitConnectionId } = (await connect()).gitConnection;
  const permission = { git_connection_id: gitConnectionId, repo_path: 'acme/gone' };
  await call(test, test.adminToken, 'POST', permissions(), { permissions: [permission] });
  await mutate('deleteGitConnection', 'deletedGitConnectionId', { gitConnectionId });
  expect((await get(permissions())).body.items).toEqual([]);
  const id = gitConnectionId.replace('git-connection-', '');
  const row = await test.app.services.store.prisma.gitConnection.findUniqueOrThrow({ where: { id } });
  expect(row).toMatchObject({ sealed: null, deletedAt: expect.any(Date) });
});
