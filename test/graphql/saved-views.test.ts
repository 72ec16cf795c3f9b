import { beforeAll, describe, expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { runMutation } from '../support/people.ts';
import { makeKey, makeUser } from '../support/principals.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
let organizationId: string;
let bot: string;
let serviceKey: string;
let one: { token: string; userId: string };
let two: { token: string };

beforeAll(async () => {
  ({ organizationId, token: bot } = await makeOrganization(test, 'Views'));
  serviceKey = await makeKey(test, { kind: 'SERVICE', organizationId });
  one = await makeUser(test, { organizationId });
  two = await makeUser(test, { organizationId });
});

const fields = 'savedView { name filter createdAt updatedAt }';
const save = (name: string, filter: unknown, as = one.token) =>
  runMutation(test, 'setSavedView', fields, { organizationId, name, filter }, as);
const remove = (name: string, as = one.token) =>
  runMutation(test, 'deleteSavedView', 'organization { savedViews { name } }', { organizationId, name }, as);
const views = async (as: string) => {
  const document = 'query($id: ID!) { organization(id: $id) { savedViews { name filter } } }';
  return (await graphql(test, as, document, { id: organizationId })).data.organization?.savedViews;
};

it('saves, replaces, returns and deletes the views of a user, whose filters lists take', async () => {
  const filter = {
    group: ['WORKING'],
    createdAfter: '2026-01-01T00:00:00Z',
    or: [{ tags: ['a'] }, { search: 'Wanted' }],
  };
  const saved = await save('Mine', { search: 'old' });
  expect(saved).toMatchObject({ savedView: { name: 'Mine', filter: { search: 'old' } }, userErrors: [] });
  const { savedView } = await save('Mine', filter);
  expect(savedView).toMatchObject({ name: 'Mine', filter, createdAt: saved.savedView.createdAt });
  await save('Other', {});
  expect(await save('Mine', { search: 'of the bot' }, bot)).toMatchObject({ userErrors: [] });
  expect(await views(one.token)).toEqual([
    { name: 'Mine', filter },
    { name: 'Other', filter: {} },
  ]);
  expect(await views(two.token)).toEqual([]);
  expect(await views(bot)).toEqual([{ name: 'Mine', filter: { search: 'of the bot' } }]);
  expect(await views(serviceKey)).toEqual([]);
  await createSession(test, { organizationId, title: 'Wanted' }, one.token);
  await createSession(test, { organizationId, title: 'Something else' }, one.token);
  const document =
    'query($id: ID!, $filter: SessionFilter) { organization(id: $id) { sessions(filter: $filter) { nodes { title } } } }';
  const { data } = await graphql(test, one.token, document, { id: organizationId, filter: savedView.filter });
  expect(data.organization.sessions.nodes).toEqual([{ title: 'Wanted' }]);
  expect((await remove('Mine', two.token)).userErrors).toEqual([]);
  for (let n = 0; n < 2; n++) expect((await remove('Mine')).organization.savedViews).toEqual([{ name: 'Other' }]);
});

it('keeps at most 50 views of a user in an organization', async () => {
  const { store } = test.app.services;
  const bare = (id: string) => id.replace(/^.*-/, '');
  await store.execute(
    `insert into saved_view select $1, $2, 'view ' || n, '{}', now(), now() from generate_series(1, 49) n`,
    [bare(one.userId), bare(organizationId)],
  );
  expect(await save('Other', { search: 'x' })).toMatchObject({ savedView: { name: 'Other' }, userErrors: [] });
  expect(await save('Too many', {})).toMatchObject({
    savedView: null,
    userErrors: [{ code: 'LIMIT_EXCEEDED', path: ['input', 'name'] }],
  });
  expect(await views(one.token)).toHaveLength(50);
});

describe('refuses', () => {
  it.each([
    ['an unknown member', { unknown: 1 }, ['filter']],
    ['a wrong value', { or: [{ status: ['SLEEPING'] }] }, ['filter', 'or', '0', 'status', '0']],
    ['a text', 'status: NEW', ['filter']],
    ['a search that is too long', { search: 'x'.repeat(1_001) }, ['filter', 'search']],
    ['a filter that is too long', { tags: Array.from({ length: 60 }, () => 'x'.repeat(200)) }, ['filter']],
  ])('%s', async (_what, filter, path) => {
    expect(await save('Refused', filter)).toMatchObject({
      savedView: null,
      userErrors: [{ code: 'INVALID_INPUT', path: ['input', ...path] }],
    });
  });

  it('an empty name, service keys, and other organizations', async () => {
    expect(await save(' ', {})).toMatchObject({ userErrors: [{ code: 'INVALID_INPUT', path: ['input', 'name'] }] });
    const document = 'mutation($input: SetSavedViewInput!) { setSavedView(input: $input) { savedView { name } } }';
    const refused = await graphql(test, serviceKey, document, { input: { organizationId, name: 'x', filter: {} } });
    expect(refused.errors?.[0]).toMatchObject({ extensions: { code: 'FORBIDDEN' } });
    const foreign = await makeOrganization(test, 'Foreign views');
    const input = { organizationId: foreign.organizationId, name: 'x', filter: {} };
    const { errors } = await graphql(test, one.token, document, { input });
    expect(errors?.[0]).toMatchObject({ extensions: { code: 'NOT_FOUND' } });
  });
});
