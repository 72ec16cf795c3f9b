import { describe, expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { makeManager, runMutation } from '../support/people.ts';
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
