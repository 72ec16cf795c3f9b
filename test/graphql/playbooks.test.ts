import { expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { type List, readAll } from '../support/pages.ts';
import { makeManager, runMutation } from '../support/people.ts';
import { homeScope, makeUser } from '../support/principals.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const fields = `playbook { id playbookId title body macro structuredOutputSchema deletedAt organization { organizationId }
  createdBy { ... on ServiceUser { serviceUserId } } updatedBy { ... on ServiceUser { serviceUserId } ... on User { userId } } }`;
const words = { title: 'Release', body: 'Tag, build, publish.' };
const run = (field: string, input: Record<string, unknown>, token?: string) =>
  runMutation(test, field, fields, input, token);
const make = async (token: string, input: Record<string, unknown> = {}) =>
  (await run('createPlaybook', { scope: homeScope(token), ...words, ...input }, token)).playbook;

it('is created, changed and deleted, and its sessions still show it', async () => {
  const { organizationId, token, serviceUserId } = await makeOrganization(test, 'Playbooks');
  const schema = { type: 'object', properties: { version: { type: 'string' } } };
  const made = await make(token, { macro: '!release', structuredOutputSchema: schema });
  expect(made).toEqual({
    ...words,
    id: expect.any(String),
    playbookId: expect.stringMatching(/^playbook-[0-9a-f]{32}$/),
    macro: '!release',
    structuredOutputSchema: schema,
    deletedAt: null,
    organization: { organizationId },
    createdBy: { serviceUserId },
    updatedBy: { serviceUserId },
  });
  const { userId, token: other } = await makeUser(test, { organizationId, roleId: 'org_admin' });
  const change = { playbookId: made.playbookId, title: 'Ship', macro: null, structuredOutputSchema: null };
  const changed = await run('updatePlaybook', change, other);
  expect(changed.playbook).toEqual({
    ...made,
    title: 'Ship',
    macro: null,
    structuredOutputSchema: null,
    updatedBy: { userId },
  });

  const sessionId = await createSession(test, { playbookId: made.id }, token);
  const remove = { playbookId: made.id };
  const gone = await runMutation(test, 'deletePlaybook', 'deletedPlaybookId', remove, token);
  expect(gone).toEqual({ deletedPlaybookId: made.id, userErrors: [], clientMutationId: null });
  const document = `query($id: ID!, $session: ID!, $playbook: ID!) {
    organization(id: $id) { playbooks { nodes { id } totalCount } sessions(filter: {playbookId: $playbook}) { totalCount } }
    session(id: $session) { playbook { id title deletedAt } } }`;
  const ids = { id: organizationId, session: sessionId, playbook: made.id };
  const { data } = await graphql(test, token, document, ids);
  expect(data).toEqual({
    organization: { playbooks: { nodes: [], totalCount: 0 }, sessions: { totalCount: 1 } },
    session: { playbook: { id: made.id, title: 'Ship', deletedAt: expect.any(String) } },
  });
  expect(await run('updatePlaybook', { playbookId: made.id, title: 'x' }, token)).toMatchObject({ error: 'NOT_FOUND' });
});

it('is refused with the path of the problem', async () => {
  const { token } = await makeOrganization(test, 'Refused playbooks');
  await make(token, { macro: '!taken' });
  for (const [input, error] of [
    [{ title: '' }, { code: 'INVALID_INPUT', path: ['input', 'title'] }],
    [{ body: '' }, { code: 'INVALID_INPUT', path: ['input', 'body'] }],
    [{ macro: '!Taken' }, { code: 'NOT_UNIQUE', path: ['input', 'macro'] }],
    [{ structuredOutputSchema: 7 }, { code: 'INVALID_INPUT', path: ['input', 'structuredOutputSchema'] }],
    [
      { structuredOutputSchema: { $ref: 'https://example.com/x.json' } },
      { code: 'INVALID_INPUT', path: ['input', 'structuredOutputSchema'] },
    ],
  ] as const) {
    const payload = await run('createPlaybook', { scope: homeScope(token), ...words, ...input }, token);
    expect(payload).toMatchObject({ playbook: null, userErrors: [error] });
  }
});

it('belongs to an organization or to the enterprise, and each needs its permission to change', async () => {
  const { token: manager } = await makeManager(test, 'READ_ACCOUNT_META', 'MANAGE_ACCOUNT_PLAYBOOKS');
  const shared = await make(manager, { scope: { enterprise: true }, title: 'Shared' });
  expect(shared.organization).toBeNull();
  const { organizationId, token } = await makeOrganization(test, 'Uses playbooks');
  const own = await make(token, { title: 'Own' });
  const titles = async (of: string, asker: string) => {
    const { data, errors } = await graphql(test, asker, of, { id: organizationId });
    expect(errors).toBeUndefined();
    const { playbooks } = data.organization ?? data.enterprise;
    expect(playbooks.totalCount).toBe(playbooks.nodes.length);
    return playbooks.nodes.map(({ title }: { title: string }) => title);
  };
  const inOrganization = (args: string) =>
    titles(`query($id: ID!) { organization(id: $id) { playbooks${args} { nodes { title } totalCount } } }`, token);
  expect(await inOrganization('')).toEqual(['Own']);
  expect(await inOrganization('(filter: {accessType: ENTERPRISE})')).toEqual(['Shared']);
  const inEnterprise = (args: string) =>
    titles(`{ enterprise { playbooks(first: 100 ${args}) { nodes { title } totalCount } } }`, manager);
  expect((await inEnterprise('')).slice(0, 2)).toEqual(['Own', 'Shared']);
  expect(await inEnterprise('filter: {accessType: ENTERPRISE}')).toEqual(['Shared']);
  expect(await inEnterprise('filter: {accessType: ORGANIZATION}')).not.toContain('Shared');

  const member = await makeUser(test, { organizationId });
  expect(await run('updatePlaybook', { playbookId: own.id, title: 'x' }, member.token)).toEqual({
    error: 'FORBIDDEN',
    message: 'Missing permission MANAGE_ORG_PLAYBOOKS.',
  });
  expect(await run('updatePlaybook', { playbookId: shared.id, title: 'x' }, token)).toEqual({
    error: 'FORBIDDEN',
    message: 'Missing permission MANAGE_ACCOUNT_PLAYBOOKS.',
  });
  expect((await run('updatePlaybook', { playbookId: own.id, title: 'y' }, manager)).playbook.title).toBe('y');
  const reader = await makeManager(test, 'READ_ACCOUNT_META');
  const { errors } = await graphql(test, reader.token, '{ enterprise { playbooks { totalCount } } }');
  expect(errors).toMatchObject([
    { message: 'Missing permission MANAGE_ACCOUNT_PLAYBOOKS.', extensions: { code: 'FORBIDDEN' } },
  ]);
  const stranger = await makeOrganization(test, 'Strangers to playbooks');
  const { data } = await graphql(test, stranger.token, 'query($id: ID!) { node(id: $id) { id } }', { id: own.id });
  expect(data.node).toBeNull();
});

it('is paged both ways, each once', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Paged playbooks');
  const ids: string[] = [];
  for (let n = 0; n < 7; n++) ids.unshift((await make(token, { title: `Playbook ${n}` })).id);
  const list: List = {
    token,
    declared: '$id: ID!',
    variables: { id: organizationId },
    field: 'organization(id: $id) { list: playbooks(PAGE) SELECTION }',
    at: (data) => data.organization.list,
  };
  expect(await readAll(test, list, 'forwards', { size: 3 })).toEqual(ids);
  expect(await readAll(test, list, 'backwards', { size: 3 })).toEqual(ids);
});
