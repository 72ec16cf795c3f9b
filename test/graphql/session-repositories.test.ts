import { beforeAll, expect, it } from 'vitest';
import { newId, parseId } from '../../src/domain/ids.ts';
import { call, graphql } from '../support/app.ts';
import { createAutomation } from '../support/automations.ts';
import { runMutation } from '../support/people.ts';
import { makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
let team: Awaited<ReturnType<typeof makeOrganization>>;
let others: Awaited<ReturnType<typeof makeOrganization>>;

const connectionId = newId();
const fields = `session { sessionId repositories {
  host path requestedRef baseRef branch pullRequestNumber directory isReadOnly state error
} }`;

const start = (input: object, token = team.token) =>
  runMutation(test, 'createSession', fields, { prompt: 'Fix it', ...input }, token);
const pathsOf = ({ session }: { session: { repositories: { path: string }[] } }): string[] =>
  session.repositories.map(({ path }) => path);
const rest = (body: object) =>
  call(test, team.token, 'POST', `/v3/organizations/${team.organizationId}/sessions`, { prompt: 'Fix it', ...body });
const automate = (prompt: string, session?: object) =>
  createAutomation(
    test,
    { actions: [{ startSession: { prompt, ...(session && { session }) } }] },
    team.token,
    'automationId',
  );

beforeAll(async () => {
  team = await makeOrganization(test, 'Repository team');
  others = await makeOrganization(test, 'Other team');
});

it('takes names of repositories as text in an enterprise that never had a git connection', async () => {
  expect((await rest({ repos: ['acme/site'] })).status).toBe(200);
  expect((await automate('Look at @acme/site.')).userErrors).toEqual([]);
  expect(pathsOf(await start({ prompt: 'Look at @acme/site.' }))).toEqual([]);
  expect(await start({ repositories: [{ repository: 'acme/site' }] })).toMatchObject({
    userErrors: [{ code: 'UNKNOWN_REFERENCE', path: ['input', 'repositories', '0', 'repository'] }],
  });
  const { store, now } = test.app.services;
  const { enterpriseId } = await store.prisma.organization.findUniqueOrThrow({
    where: { id: parseId('organization', team.organizationId) ?? '' },
  });
  const times = { createdAt: now(), updatedAt: now() };
  const gitlab = { providerType: 'gitlab_token', name: 'Bot', host: 'git.test', hostKey: 'git.test' };
  await store.prisma.gitConnection.create({ data: { id: connectionId, enterpriseId, ...gitlab, ...times } });
  const permissions = [
    { of: team, repoPath: 'acme/site' },
    { of: team, repoPath: 'acme/docs', isReadOnly: true },
    { of: team, repoPath: 'acme/deep/site' },
    { of: others, repoPath: 'acme/secret' },
  ];
  for (const { of, ...permission } of permissions) {
    const organizationId = parseId('organization', of.organizationId) ?? '';
    const row = { id: newId(), organizationId, gitConnectionId: connectionId, createdAt: now(), ...permission };
    await store.prisma.gitPermission.create({ data: row });
  }
});

it('starts a session in the named repositories', async () => {
  const { session } = await start({
    title: 'Fix the login',
    repositories: [
      { repository: 'ACME/site', ref: 'release/2', directory: 'web/site' },
      { repository: 'https://git.test/acme/docs.git', branch: 'words' },
      { repository: 'git.test/acme/deep/site', pullRequest: 7 },
    ],
  });
  const branch = `switchyard/fix-the-login-${session.sessionId.slice(-8)}`;
  const pending = { host: 'git.test', baseRef: null, state: 'PENDING', error: null };
  expect(session.repositories).toMatchObject([
    { ...pending, path: 'acme/site', requestedRef: 'release/2', branch, directory: 'web/site', isReadOnly: false },
    { ...pending, path: 'acme/docs', requestedRef: null, branch: 'words', directory: 'docs', isReadOnly: true },
    { ...pending, path: 'acme/deep/site', pullRequestNumber: 7, branch, directory: 'site' },
  ]);
});

it.each([
  ['UNKNOWN_REFERENCE', { repository: 'acme/secret' }, ['repository']],
  ['UNKNOWN_REFERENCE', { repository: 'acme/nothing' }, ['repository']],
  ['UNKNOWN_REFERENCE', { repository: 'acme/../site' }, ['repository']],
  ['INVALID_INPUT', { repository: 'acme/site', ref: '--upload-pack=x' }, ['ref']],
  ['INVALID_INPUT', { repository: 'acme/site', ref: 'main', pullRequest: 1 }, ['ref']],
  ['INVALID_INPUT', { repository: 'acme/site', branch: 'refs/heads/main' }, ['branch']],
  ['INVALID_INPUT', { repository: 'acme/site', pullRequest: 0 }, ['pullRequest']],
  ['INVALID_INPUT', { repository: 'acme/site', directory: '../site' }, ['directory']],
  ['INVALID_INPUT', { repository: 'acme/site', directory: '.session' }, ['directory']],
])('refuses with %s, and writes nothing: %o', async (code, repository, path) => {
  const count = () => test.app.services.store.prisma.session.count();
  const before = await count();
  expect(await start({ repositories: [repository] })).toMatchObject({
    session: null,
    userErrors: [{ code, path: ['input', 'repositories', '0', ...path] }],
  });
  expect(await count()).toBe(before);
});

it('refuses a repository that is named twice, and directories inside each other', async () => {
  const [site, docs] = [{ repository: 'acme/site' }, { repository: 'acme/docs', directory: 'a' }];
  const twice = await start({ repositories: [site, { repository: 'git.test/ACME/site' }] });
  expect(twice.userErrors).toMatchObject([{ path: ['input', 'repositories', '1', 'repository'] }]);
  const inside = await start({ repositories: [docs, { ...site, directory: 'A/b' }] });
  expect(inside.userErrors).toMatchObject([{ path: ['input', 'repositories', '1', 'directory'] }]);
});

it('reads names in prompts, and leaves unknown ones as text', async () => {
  const prompt = 'Compare @acme/docs, @acme/secret and @acme/site. Tell @acme/site.';
  expect(pathsOf(await start({ prompt }))).toEqual(['acme/docs', 'acme/site']);
  expect(pathsOf(await start({ prompt, repositories: [] }))).toEqual([]);
  expect(pathsOf(await start({ prompt: 'Ask \\@acme/site and ann@acme/site' }))).toEqual([]);
});

it('checks the names in automations, and starts their sessions there', async () => {
  expect((await automate('Look at @acme/secret.')).userErrors).toMatchObject([{ code: 'UNKNOWN_REFERENCE' }]);
  const { automation } = await automate('Look at @acme/site.', { repos: ['acme/old'] });
  const { run } = await runMutation(
    test,
    'runAutomation',
    'run { sessionId error { message } }',
    { automationId: automation.automationId },
    team.token,
  );
  expect(run.error).toBeNull();
  const document = 'query($id: ID!) { session(id: $id) { repositories { path } } }';
  const { data } = await graphql(test, team.token, document, { id: run.sessionId });
  expect(data.session.repositories).toEqual([{ path: 'acme/site' }]);
});

it('takes repos and filters by repo_names in v3', async () => {
  expect((await rest({ repos: ['acme/site', 'acme/secret'] })).status).toBe(400);
  const { body } = await rest({ repos: ['acme/docs'], title: 'By REST' });
  const list = async (query: string) => {
    const path = `/v3/organizations/${team.organizationId}/sessions?${query}`;
    return (await call(test, team.token, 'GET', path)).body.items.map((each: any) => each.session_id);
  };
  const found = await list('repo_names=ACME/docs');
  expect(found).toContain(body.session_id);
  expect(found).toEqual(await list('repo_names=git.test/acme/docs&repo_names=acme/none'));
  expect(await list('repo_names=acme/none')).toEqual([]);
  const document =
    'query($id: ID!, $names: [String!]) { organization(id: $id) { sessions(first: 50, filter: { repositories: $names }) { nodes { sessionId } } } }';
  const { data } = await graphql(test, team.token, document, { id: team.organizationId, names: ['acme/DOCS'] });
  const ids = data.organization.sessions.nodes.map((each: any) => parseId('session', each.sessionId));
  expect(ids).toEqual(found.map((id: string) => parseId('session', id)));
});

it('sets the branch template and the default repositories of an organization', async () => {
  const { organizationId } = team;
  const update = (input: object) =>
    runMutation(test, 'updateOrganization', 'organization { branchTemplate defaultRepositories }', {
      organizationId,
      ...input,
    });
  const set = await update({ branchTemplate: 'bot/{short id}', defaultRepositories: ['acme/site'] });
  expect(set.organization).toEqual({ branchTemplate: 'bot/{short id}', defaultRepositories: ['git.test/acme/site'] });
  const { session } = await start({});
  expect(session.repositories).toMatchObject([{ path: 'acme/site', branch: `bot/${session.sessionId.slice(-8)}` }]);
  expect(pathsOf(await start({ repositories: [] }))).toEqual([]);
  expect((await update({ branchTemplate: 'main' })).userErrors).toMatchObject([{ path: ['input', 'branchTemplate'] }]);
  expect((await update({ defaultRepositories: ['acme/site', 'acme/secret'] })).userErrors).toMatchObject([
    { code: 'UNKNOWN_REFERENCE', path: ['input', 'defaultRepositories', '1'] },
  ]);
  expect((await update({ branchTemplate: null, defaultRepositories: [] })).organization).toEqual({
    branchTemplate: null,
    defaultRepositories: [],
  });
  const own = { organizationId, branchTemplate: 'x/{short id}' };
  expect(await runMutation(test, 'updateOrganization', 'organization { id }', own, team.token)).toMatchObject({
    error: 'FORBIDDEN',
  });
});

it('shows the repositories of a session to nobody outside its organization', async () => {
  const { session } = await start({ repositories: [{ repository: 'acme/site' }] });
  const document = 'query($id: ID!) { session(id: $id) { repositories { path } } }';
  const { data } = await graphql(test, others.token, document, { id: session.sessionId });
  expect(data.session).toBeNull();
});

it('refuses repos after the last git connection was deleted', async () => {
  const { store, now } = test.app.services;
  await store.execute('update git_connection set deleted_at = $1, sealed = null where id = $2 returning id', [
    now(),
    connectionId,
  ]);
  expect(await rest({ repos: ['acme/site'] })).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('There is no repository "acme/site"') },
  });
});
