import { beforeAll, expect, it } from 'vitest';
import { newId, parseId } from '../../src/domain/ids.ts';
import { graphql } from '../support/app.ts';
import { createAutomation } from '../support/automations.ts';
import { connectForge } from '../support/connected-forge.ts';
import { runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { makeRepository } from '../support/repositories.ts';
import { makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
let team: Awaited<ReturnType<typeof makeOrganization>>;
let others: Awaited<ReturnType<typeof makeOrganization>>;
let enterpriseId: string;
let site: string;

const fields = 'path branchTemplate isPushToOtherBranchesAllowed isPushOfTagsAllowed isDeletionAllowed';
const update = (input: object, token = test.adminToken) =>
  runMutation(test, 'updateRepository', `repository { ${fields} }`, { repositoryId: site, ...input }, token);
const lookUp = async (path: string, { organizationId, token }: { organizationId: string; token: string } = team) => {
  const document =
    'query($id: ID!, $path: String!) { organization(id: $id) { repository(path: $path) { repositoryId } } }';
  const { data } = await graphql(test, token, document, { id: organizationId, path });
  return data.organization.repository?.repositoryId ?? null;
};

beforeAll(async () => {
  team = await makeOrganization(test, 'Repository team');
  others = await makeOrganization(test, 'Team without a permission');
  await connectForge(test, [team.organizationId]);
  const { store } = test.app.services;
  const id = parseId('organization', team.organizationId) ?? '';
  ({ enterpriseId } = await store.prisma.organization.findUniqueOrThrow({ where: { id } }));
  site = await makeRepository(test, enterpriseId, 'acme/Site');
});

it('finds a repository by each form of its name, for organizations that may use it', async () => {
  const forms = ['ACME/site', 'git.test/acme/site', 'https://git.test/acme/site.git', 'git@git.test:acme/site', site];
  for (const form of forms) expect({ form, id: await lookUp(form) }).toEqual({ form, id: site });
  for (const other of ['acme/none', 'other.test/acme/site', '../acme/site', '', 'a\u0000/b', '\ud800/b']) {
    expect(await lookUp(other)).toBeNull();
  }
  expect(await lookUp('acme/site', others)).toBeNull();
  expect(await lookUp(site, others)).toBeNull();
});

it('changes the settings of a repository, and only those that are given', async () => {
  const none = { isPushToOtherBranchesAllowed: false, isPushOfTagsAllowed: false, isDeletionAllowed: false };
  expect((await update({ branchTemplate: 'bot/{short id}', isDeletionAllowed: true })).repository).toEqual({
    ...{ path: 'acme/Site', branchTemplate: 'bot/{short id}', ...none, isDeletionAllowed: true },
  });
  expect((await update({ isPushOfTagsAllowed: true })).repository).toMatchObject({
    ...{ branchTemplate: 'bot/{short id}', ...none, isDeletionAllowed: true, isPushOfTagsAllowed: true },
  });
  const started = await runMutation(
    test,
    'createSession',
    'session { repositories { branch } }',
    { prompt: 'Fix it', repositories: [{ repository: 'acme/site' }] },
    team.token,
  );
  expect(started.session.repositories).toEqual([{ branch: expect.stringMatching(/^bot\/\w{8}$/) }]);
  const cleared = { branchTemplate: null, isDeletionAllowed: false, isPushOfTagsAllowed: false };
  expect((await update(cleared)).repository).toEqual({ path: 'acme/Site', branchTemplate: null, ...none });
});

it.each([
  ['INVALID_INPUT', { branchTemplate: 'same-for-all' }, 'branchTemplate'],
  ['INVALID_INPUT', { branchTemplate: 'a..{short id}' }, 'branchTemplate'],
  ['INVALID_INPUT', { isDeletionAllowed: null }, 'isDeletionAllowed'],
])('refuses with %s and changes nothing: %o', async (code, input, member) => {
  const row = () => test.app.services.store.prisma.repository.findFirst({ where: { path: 'acme/Site' } });
  const before = await row();
  expect((await update(input)).userErrors[0]).toMatchObject({ code, path: ['input', member] });
  expect(await row()).toEqual(before);
});

it('refuses callers without the permission before it looks for the repository', async () => {
  const document = 'mutation($input: UpdateRepositoryInput!) { updateRepository(input: $input) { repository { id } } }';
  const { token } = await makeUser(test, { organizationId: team.organizationId, roleId: 'org_admin' });
  const codes = [];
  for (const repositoryId of [site, newId()]) {
    const { errors } = await graphql(test, token, document, { input: { repositoryId, isDeletionAllowed: true } });
    codes.push(errors?.[0]?.extensions?.code);
  }
  expect(codes).toEqual(['FORBIDDEN', 'FORBIDDEN']);
  const unknown = await graphql(test, test.adminToken, document, { input: { repositoryId: newId() } });
  expect(unknown.errors?.[0]?.extensions?.code).toBe('NOT_FOUND');
});

it.each(['of another enterprise', 'that no organization may use'])('changes no repository %s', async (whose) => {
  const { store } = test.app.services;
  const isForeign = whose === 'of another enterprise';
  const foreign = await makeRepository(test, isForeign ? newId() : enterpriseId, isForeign ? undefined : 'gone/site');
  const document = 'mutation($input: UpdateRepositoryInput!) { updateRepository(input: $input) { repository { id } } }';
  const input = { repositoryId: foreign, isDeletionAllowed: true };
  const { errors } = await graphql(test, test.adminToken, document, { input });
  expect(errors?.[0]?.extensions?.code).toBe('NOT_FOUND');
  expect(
    await store.prisma.repository.findUnique({ where: { id: parseId('repository', foreign) ?? '' } }),
  ).toMatchObject({ settings: {} });
});

it('stores the definition of an environment, and says where it is wrong', async () => {
  const select = 'repository { environmentDefinition environmentBuilds { state } }';
  const store = (environmentDefinition: string | null) =>
    runMutation(test, 'updateRepository', select, { repositoryId: site, environmentDefinition });
  const text = 'setup: npm ci\nsecrets: [NPM_TOKEN]\n';
  expect((await store(text)).repository).toEqual({ environmentDefinition: text, environmentBuilds: [] });
  const refused = await store('setup: npm ci\nstrat: npm start\ntimeout_minutes: 0\n');
  expect(refused).toMatchObject({
    repository: null,
    userErrors: [
      { code: 'INVALID_INPUT', path: ['input', 'environmentDefinition'], message: expect.stringContaining('line 3: ') },
      {
        code: 'INVALID_INPUT',
        path: ['input', 'environmentDefinition'],
        message: expect.stringContaining('line 2: "strat"'),
      },
    ],
  });
  expect((await store(null)).repository).toMatchObject({ environmentDefinition: null });
});

it('shows the set-ups of an organization to those who may view it, and deletes them', async () => {
  const { store, now } = test.app.services;
  const [organizationId, repositoryId] = [parseId('organization', team.organizationId), parseId('repository', site)];
  const times = { createdAt: now(), startedAt: now(), usedAt: now() };
  const ids = {
    id: newId(),
    organizationId: organizationId ?? '',
    repositoryId: repositoryId ?? '',
    sessionId: newId(),
  };
  const values = { hash: 'h', machine: 'm', commit: 'c'.repeat(40), log: '$ npm ci\n', state: 'READY', bytes: 7n };
  await store.prisma.environmentBuild.create({ data: { ...ids, ...values, ...times } });
  const read = async ({ organizationId: id, token }: { organizationId: string; token: string }) => {
    const fragment =
      'repository(path: "acme/site") { environmentBuilds { finishedAt usedAt state log bytes commit organization { organizationId } session { id } } }';
    const { data } = await graphql(test, token, `query($id: ID!) { organization(id: $id) { ${fragment} } }`, {
      id,
    });
    return data.organization.repository?.environmentBuilds ?? null;
  };
  const [build, ...more] = await read(team);
  expect(build).toMatchObject({
    ...{ state: 'READY', finishedAt: null, log: '$ npm ci\n', bytes: 7, commit: 'c'.repeat(40), session: null },
    organization: { organizationId: team.organizationId },
  });
  expect(more).toEqual([]);
  expect(await read(others)).toBeNull();
  expect(await runMutation(test, 'deleteEnvironmentBuilds', '', { repositoryId: site }, team.token)).toMatchObject({
    error: 'FORBIDDEN',
  });
  const deleted = await runMutation(test, 'deleteEnvironmentBuilds', 'repository { environmentBuilds { state } }', {
    repositoryId: site,
  });
  expect(deleted).toMatchObject({ repository: { environmentBuilds: [] }, userErrors: [] });
});

it('builds an environment for those who may use the repository, and an unsaved definition for those who may store it', async () => {
  const build = (more: object, token: string) =>
    runMutation(test, 'buildEnvironment', 'environmentBuild { state trigger }', { repositoryId: site, ...more }, token);
  const own = { organizationId: team.organizationId };
  const environmentDefinition = 'setup: echo $TOKEN\nsecrets: [TOKEN]';
  expect(await build({ ...own, environmentDefinition }, team.token)).toMatchObject({ error: 'FORBIDDEN' });
  expect(await build({ organizationId: others.organizationId }, others.token)).toMatchObject({ error: 'NOT_FOUND' });
  expect(await build({ organizationId: others.organizationId }, test.adminToken)).toMatchObject({ error: 'NOT_FOUND' });
  expect(await build({ ...own, environmentDefinition: 'setup: [' }, test.adminToken)).toMatchObject({
    userErrors: [{ code: 'INVALID_INPUT', message: expect.stringContaining('line 1') }],
  });
  const started = { environmentBuild: { state: 'QUEUED', trigger: 'REQUEST' }, userErrors: [] };
  expect(await build(own, team.token)).toMatchObject(started);
  expect(await build({ ...own, environmentDefinition }, test.adminToken)).toMatchObject({
    userErrors: [{ code: 'INVALID_STATE' }],
  });
});

it('refuses repositories of actions and prompts alike, and says if the organization has no permission', async () => {
  const hint =
    ' The organization has no git permission. An administrator can add one in the console, under Settings → Git → Permissions.';
  const start = (prompt: string, repos: string[] = []) => ({
    ...{ name: 'Look', triggers: [] },
    actions: [{ startSession: { prompt, session: { repos } } }],
  });
  const save = async (input: Record<string, unknown>, { token }: { token: string } = team) =>
    (await createAutomation(test, input, token, 'automationId')).userErrors;
  const missing = (name: string) => `There is no repository "${name}" that this organization may use.`;
  const at = ['input', 'actions', '0', 'startSession'];
  expect(await save(start('Look', ['acme/site', 'notarepo']))).toEqual([
    {
      code: 'UNKNOWN_REFERENCE',
      path: [...at, 'session', 'repos', '1'],
      message: '"notarepo" is not the name of a repository: use owner/name, or its URL with both.',
    },
  ]);
  const asText = ' Where it is only text, write \\@other/repo.';
  expect(await save(start('Look at @other/repo'))).toEqual([
    { code: 'UNKNOWN_REFERENCE', path: [...at, 'prompt'], message: `${missing('other/repo')}${asText}` },
  ]);
  expect(await save(start('Look at @acme/site', ['acme/site', 'from/earlier']))).toEqual([]);
  expect(await save(start('Look', ['acme/site']), others)).toMatchObject([
    { code: 'UNKNOWN_REFERENCE', message: `${missing('acme/site')}${hint}` },
  ]);
  const input = { prompt: 'Look', repositories: [{ repository: 'acme/site' }] };
  expect((await runMutation(test, 'createSession', 'session { id }', input, others.token)).userErrors).toMatchObject([
    { path: ['input', 'repositories', '0', 'repository'], message: `${missing('acme/site')}${hint}` },
  ]);
});
