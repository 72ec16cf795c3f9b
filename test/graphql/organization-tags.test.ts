import { describe, expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { makeManager, makeRole, runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { rowsRead } from '../support/rows-read.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const selection = 'allowedTags defaultTag organization { allowedTags defaultTag }';
const act = (name: string, input: Record<string, unknown>, token?: string) =>
  runMutation(test, name, selection, input, token);
const rules = (allowedTags: string[], defaultTag: string | null) => ({
  allowedTags,
  defaultTag,
  organization: { allowedTags, defaultTag },
  userErrors: [],
});

describe('the tags of an organization', () => {
  const setDefault = (organizationId: string, defaultTag: string | null, token?: string) =>
    runMutation(
      test,
      'updateOrganization',
      'organization { name allowedTags defaultTag }',
      { organizationId, defaultTag },
      token,
    );

  it('can be added, replaced and removed; the default is one of them', async () => {
    const { organizationId } = await makeOrganization(test, 'Tags');
    const on = { organizationId };
    expect(await act('addAllowedTags', { ...on, tags: ['b', 'a', 'b'] })).toMatchObject(rules(['a', 'b'], null));
    expect((await setDefault(organizationId, 'b')).organization).toMatchObject({ defaultTag: 'b' });
    expect(await act('addAllowedTags', { ...on, tags: ['c'] })).toMatchObject(rules(['a', 'b', 'c'], 'b'));
    expect(await act('removeAllowedTags', { ...on, tags: ['b', 'none'] })).toMatchObject(rules(['a', 'c'], null));
    expect((await setDefault(organizationId, 'c')).organization).toMatchObject({ defaultTag: 'c' });
    expect((await setDefault(organizationId, null)).organization).toMatchObject({ defaultTag: null });
    expect(await act('replaceAllowedTags', { ...on, tags: [] })).toMatchObject(rules([], null));
  });

  it('in use are those of its sessions, each once, for everybody who may see them', async () => {
    const { organizationId, token } = await makeOrganization(test, 'In use');
    const other = await makeOrganization(test, 'Elsewhere');
    const used = (as: string, id = organizationId) =>
      graphql(test, as, 'query($id: ID!) { organization(id: $id) { name tagsInUse } }', { id });
    expect((await used(token)).data.organization).toEqual({ name: 'In use', tagsInUse: [] });
    for (const tags of [['b', 'a'], ['b'], ['Z', 'ä'], []]) await createSession(test, { organizationId, tags }, token);
    await createSession(test, { tags: ['c'] }, other.token);
    expect((await used(token)).data.organization.tagsInUse).toEqual(['Z', 'a', 'b', 'ä']);
    // Several organizations in one statement.
    const all = await graphql(test, test.adminToken, '{ organizations(first: 100) { nodes { name tagsInUse } } }');
    const tagsOf = (name: string) =>
      all.data.organizations.nodes.find((each: { name: string }) => each.name === name)?.tagsInUse;
    expect([tagsOf('In use'), tagsOf('Elsewhere')]).toEqual([['Z', 'a', 'b', 'ä'], ['c']]);
    const { roleId } = await makeRole(test, 'ORGANIZATION', ['VIEW_ORG_MEMBERSHIP']);
    const blind = await makeUser(test, { organizationId, roleId });
    expect(await used(blind.token)).toMatchObject({
      data: { organization: { tagsInUse: null } },
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    });
  });

  it('in use are at most the first thousand, and one row is read for each', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Very many');
    const { store } = test.app.services;
    await store.execute(
      `insert into session_tag (organization_id, tag, created_at, session_id)
       select $1, 'tag ' || (10000 + n % 1200), now(), md5(n::text) from generate_series(1, 12000) n`,
      [organizationId.slice(4)],
    );
    await store.execute('analyze session_tag');
    const query = 'query($id: ID!) { organization(id: $id) { tagsInUse } }';
    const { answer, read } = await rowsRead(test, () => graphql(test, token, query, { id: organizationId }));
    const { tagsInUse } = answer.data.organization;
    expect([tagsInUse.length, tagsInUse[0], tagsInUse.at(-1)]).toEqual([1_000, 'tag 10000', 'tag 10999']);
    expect(read.session_tag).toBeLessThanOrEqual(1_000);
  });

  it('apply to new sessions', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Strict');
    await act('replaceAllowedTags', { organizationId, tags: ['yes'] });
    await setDefault(organizationId, 'yes');
    const id = await createSession(test, {}, token);
    const { data } = await graphql(test, token, 'query($id: ID!) { session(id: $id) { tags } }', { id });
    expect(data.session.tags).toEqual(['yes']);
    const refused = await runMutation(test, 'createSession', 'session { id }', { prompt: 'x', tags: ['no'] }, token);
    expect(refused.userErrors).toMatchObject([{ code: 'UNKNOWN_REFERENCE', path: ['input', 'tags'] }]);
  });

  it('are refused if invalid', async () => {
    const { organizationId } = await makeOrganization(test, 'Odd');
    const on = { organizationId };
    expect(await act('addAllowedTags', { ...on, tags: [''] })).toMatchObject({
      allowedTags: null,
      userErrors: [{ code: 'INVALID_INPUT', path: ['input', 'tags', '0'] }],
    });
    expect(await setDefault(organizationId, 'x')).toMatchObject({
      organization: null,
      userErrors: [{ code: 'UNKNOWN_REFERENCE', path: ['input', 'defaultTag'] }],
    });
    expect(await setDefault(organizationId, '')).toMatchObject({
      userErrors: [{ code: 'INVALID_INPUT', path: ['input', 'defaultTag'] }],
    });
    expect(await act('removeAllowedTags', { ...on, tags: [''] })).toMatchObject({
      userErrors: [{ code: 'INVALID_INPUT', path: ['input', 'tags', '0'] }],
    });
    const many = Array.from({ length: 1_001 }, (_, n) => `t${n}`);
    expect(await act('replaceAllowedTags', { ...on, tags: many })).toMatchObject({
      userErrors: [{ code: 'LIMIT_EXCEEDED', path: ['input', 'tags'] }],
    });
  });

  it('need MANAGE_ENTERPRISE_SETTINGS', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Weak');
    await act('replaceAllowedTags', { organizationId, tags: ['x'] });
    const read = 'query($id: ID!) { organization(id: $id) { name allowedTags defaultTag } }';
    const { data, errors } = await graphql(test, token, read, { id: organizationId });
    expect(data.organization).toEqual({ name: 'Weak', allowedTags: null, defaultTag: null });
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['FORBIDDEN', 'FORBIDDEN']);
    for (const [name, more] of [
      ['addAllowedTags', { tags: ['y'] }],
      ['replaceAllowedTags', { tags: ['y'] }],
      ['removeAllowedTags', { tags: ['x'] }],
    ] as const) {
      expect(await act(name, { organizationId, ...more }, token)).toMatchObject({ error: 'FORBIDDEN' });
    }
    expect(await setDefault(organizationId, 'x', token)).toMatchObject({ error: 'FORBIDDEN' });
    // A caller that may set them need not be able to use the organization.
    const manager = await makeManager(test, 'MANAGE_ENTERPRISE_SETTINGS');
    expect(await act('addAllowedTags', { organizationId, tags: ['y'] }, manager.token)).toMatchObject({
      allowedTags: ['x', 'y'],
      organization: null,
    });
    expect((await setDefault(organizationId, 'y', manager.token)).userErrors).toEqual([]);
    // The default tag and the name need a permission each, and both are changed or neither.
    const both = { organizationId, defaultTag: 'x', name: 'Renamed' };
    const renamer = await makeManager(test, 'MANAGE_ORGANIZATIONS');
    for (const { token: one } of [manager, renamer]) {
      expect(await runMutation(test, 'updateOrganization', 'organization { name }', both, one)).toMatchObject({
        error: 'FORBIDDEN',
      });
    }
    const after = await graphql(test, test.adminToken, read, { id: organizationId });
    expect(after.data.organization).toMatchObject({ name: 'Weak', defaultTag: 'y' });
  });
});
