import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { graphql } from '../support/app.ts';
import { giteaToken, startGitea } from '../support/forges/gitea.ts';
import { makeRole, runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp({ isHttpForgeAllowed: true });
let gitea: Awaited<ReturnType<typeof startGitea>>;
let host: string;
let gitConnectionId: string;
let permitted: { organizationId: string; token: string };
let other: { organizationId: string; token: string };

beforeAll(async () => {
  gitea = await startGitea();
  host = new URL(gitea.url).host;
  const access = { providerType: 'GITEA_TOKEN', host: gitea.url, token: giteaToken, name: newId() };
  const made = await runMutation(test, 'createGitConnection', 'gitConnection { gitConnectionId }', access);
  gitConnectionId = made.gitConnection.gitConnectionId;
  permitted = await makeOrganization(test, newId());
  other = await makeOrganization(test, newId());
  const { userErrors } = await runMutation(test, 'createGitPermission', '', {
    ...{ organizationId: permitted.organizationId, gitConnectionId, groupPrefix: 'acme' },
  });
  expect(userErrors).toEqual([]);
});
beforeEach(() => gitea.intercept(() => null));
afterAll(() => gitea.close());

const check = async (name: string, organizationId = permitted.organizationId, token = test.adminToken) => {
  const document =
    'query($id: ID!, $name: String!) { organization(id: $id) { repositoryCheck(name: $name) { host isReadable } } }';
  const { data, errors } = await graphql(test, token, document, { id: organizationId, name });
  return errors ? { code: errors[0].extensions.code } : data.organization?.repositoryCheck;
};
const list = async (organizationId: string | null, token = test.adminToken) => {
  const document =
    'query($id: ID!, $organizationId: ID) { gitConnection(id: $id) { repositories(organizationId: $organizationId) { nodes { path } } } }';
  const { data, errors } = await graphql(test, token, document, { id: gitConnectionId, organizationId });
  return errors
    ? { code: errors[0].extensions.code }
    : data.gitConnection?.repositories.nodes.map(({ path }: any) => path);
};

it('asks the forge once a minute whether a repository can be read', async () => {
  for (const name of ['acme/site', `${host}/acme/site`, `${gitea.url}/acme/site.git`]) {
    expect(await check(name)).toEqual({ host, isReadable: true });
  }
  const { length } = gitea.requests;
  expect(await check('acme/site')).toEqual({ host, isReadable: true });
  expect(gitea.requests).toHaveLength(length);
  expect(await check('acme/sitr')).toEqual({ host, isReadable: false });
  expect(gitea.requests.length).toBeGreaterThan(length);
});

it('does not ask for repositories that the organization may not use', async () => {
  const { length } = gitea.requests;
  expect(await check('acme/site', other.organizationId)).toEqual({ host: null, isReadable: false });
  for (const name of ['elsewhere/site', 'github.test/acme/site', '', 'x', 'a\0b/c', '../..', 'x'.repeat(2_000)]) {
    expect(await check(name), name).toEqual({ host: null, isReadable: false });
  }
  expect(gitea.requests).toHaveLength(length);
});

it('says nothing of a repository while the forge does not answer, and asks again', async () => {
  gitea.intercept(() => ({ status: 500, body: { message: 'c4n4ry-of-the-forge' } }));
  expect(await check('acme/later')).toEqual({ host, isReadable: null });
});

it('lists of a connection what an organization may use', async () => {
  expect(await list(null)).toContain('acme/site');
  expect(await list(permitted.organizationId)).toContain('acme/site');
  expect(await list(other.organizationId)).toEqual([]);
  expect(await list(newId())).toMatchObject({ code: 'NOT_FOUND' });
});

it('answers who may start sessions, and refuses all others', async () => {
  const holderOf = async (permission: string, { organizationId } = permitted) => {
    const { roleId } = await makeRole(test, 'ORGANIZATION', [permission]);
    return (await makeUser(test, { roleId, organizationId })).token;
  };
  const starter = await holderOf('USE_SESSIONS');
  expect(await check('acme/new', permitted.organizationId, starter)).toEqual({ host, isReadable: false });
  const { length } = gitea.requests;
  const reader = await holderOf('VIEW_ORG_SESSIONS');
  expect(await check('acme/site', permitted.organizationId, reader)).toEqual({ code: 'FORBIDDEN' });
  expect(await list(permitted.organizationId, starter)).toBeUndefined();
  const stranger = await holderOf('USE_SESSIONS', other);
  for (const id of [permitted.organizationId, newId()]) expect(await check('acme/site', id, stranger)).toBeUndefined();
  expect(gitea.requests).toHaveLength(length);
});
