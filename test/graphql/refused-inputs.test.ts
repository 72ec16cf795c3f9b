import { beforeAll, describe, expect, it } from 'vitest';
import { type MutationName, mutate } from '../support/mutations.ts';
import { globalIdOf, keyInput, otherId } from '../support/principals.ts';
import { countRows } from '../support/rows.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
let sessionId: string;
let foreignId: string;
beforeAll(async () => {
  sessionId = await createSession(test);
  const { organizationId, token } = await makeOrganization(test, 'Foreign');
  foreignId = await createSession(test, { organizationId }, token);
});

type Input = Record<string, unknown>;
type Case = [what: string, input: Input, code: string, path: string[] | null];

/** Each input is refused with one user error, whose message is a sentence, and nothing is written. */
function refuses(name: MutationName, base: () => Input, cases: Case[]): void {
  it.each(cases)('%s', async (_what, input, code, path) => {
    const before = await countRows(test);
    const { payload, errors } = await mutate(test, test.adminToken, name, {
      ...base(),
      ...input,
      clientMutationId: 'mine',
    });
    expect(errors).toBeUndefined();
    // Only mutations that take a key have wasReplayed.
    const { userErrors, clientMutationId, wasReplayed = false, ...things } = payload;
    expect(userErrors).toEqual([{ code, message: expect.stringMatching(/^["A-Z].{10,}\.$/), path }]);
    expect([clientMutationId, wasReplayed]).toEqual(['mine', false]);
    expect(new Set(Object.values(things))).toEqual(new Set([null]));
    expect(await countRows(test)).toEqual(before);
  });
}

const someId = '01900000000070008000000000000000';
const tags = (count: number) => Array.from({ length: count }, (_, n) => `t${n}`);

describe('createSession refuses', () => {
  refuses('createSession', () => ({ organizationId: test.organizationId, prompt: 'x' }), [
    ['an empty prompt', { prompt: '' }, 'INVALID_INPUT', ['input', 'prompt']],
    ['a prompt of spaces', { prompt: ' \n\t ' }, 'INVALID_INPUT', ['input', 'prompt']],
    ['a prompt that is too long', { prompt: 'x'.repeat(500_001) }, 'INVALID_INPUT', ['input', 'prompt']],
    ['NUL in a prompt', { prompt: 'a\u0000b' }, 'INVALID_INPUT', ['input', 'prompt']],
    ['half a surrogate in a prompt', { prompt: 'a\ud800b' }, 'INVALID_INPUT', ['input', 'prompt']],
    ['NUL in a title', { title: '\u0000' }, 'INVALID_INPUT', ['input', 'title']],
    ['a title that is too long', { title: 'x'.repeat(10_001) }, 'INVALID_INPUT', ['input', 'title']],
    ['51 tags', { tags: tags(51) }, 'INVALID_INPUT', ['input', 'tags']],
    ['an empty tag', { tags: ['ok', ''] }, 'INVALID_INPUT', ['input', 'tags', '1']],
    ['NUL in a tag', { tags: ['\u0000'] }, 'INVALID_INPUT', ['input', 'tags', '0']],
    ['a tag that is too long', { tags: ['x'.repeat(201)] }, 'INVALID_INPUT', ['input', 'tags', '0']],
    ['no ACUs', { maxAcuLimit: 0 }, 'INVALID_INPUT', ['input', 'maxAcuLimit']],
    ['fewer than no ACUs', { maxAcuLimit: -1 }, 'INVALID_INPUT', ['input', 'maxAcuLimit']],
    ['half a surrogate in a snapshot', { snapshotId: '\udc00' }, 'INVALID_INPUT', ['input', 'snapshotId']],
    [
      'a schema over 64 KB',
      { structuredOutputSchema: { description: 'x'.repeat(65_536) } },
      'INVALID_INPUT',
      ['input', 'structuredOutputSchema'],
    ],
    [
      'a schema with an external $ref',
      { structuredOutputSchema: { properties: { a: { $ref: 'https://example.test/a.json' } } } },
      'INVALID_INPUT',
      ['input', 'structuredOutputSchema'],
    ],
    ['a schema that is a list', { structuredOutputSchema: [] }, 'INVALID_INPUT', ['input', 'structuredOutputSchema']],
    ['a schema that is text', { structuredOutputSchema: '{}' }, 'INVALID_INPUT', ['input', 'structuredOutputSchema']],
    ['a schema that is a number', { structuredOutputSchema: 0 }, 'INVALID_INPUT', ['input', 'structuredOutputSchema']],
    [
      'a schema that is none',
      { structuredOutputSchema: { type: 'nothing' } },
      'INVALID_INPUT',
      ['input', 'structuredOutputSchema'],
    ],
    [
      'NUL in a schema',
      { structuredOutputSchema: { title: '\u0000' } },
      'INVALID_INPUT',
      ['input', 'structuredOutputSchema'],
    ],
    [
      'a secret without a name',
      { sessionSecrets: [{ key: '', value: 'v' }] },
      'INVALID_INPUT',
      ['input', 'sessionSecrets', '0', 'key'],
    ],
    [
      'NUL in a secret',
      { sessionSecrets: [{ key: 'K', value: 'a\u0000' }] },
      'INVALID_INPUT',
      ['input', 'sessionSecrets', '0', 'value'],
    ],
    ['an unknown playbook', { playbookId: someId }, 'UNKNOWN_REFERENCE', ['input', 'playbookId']],
    ['unknown secrets', { secretIds: [someId] }, 'UNKNOWN_REFERENCE', ['input', 'secretIds']],
    ['unknown notes', { knowledgeIds: [someId] }, 'UNKNOWN_REFERENCE', ['input', 'knowledgeIds']],
    ['unknown attachments', { attachmentIds: [someId] }, 'UNKNOWN_REFERENCE', ['input', 'attachmentIds']],
    ['an unknown agent', { agent: 'nobody' }, 'UNKNOWN_REFERENCE', ['input', 'agent']],
    ['an agent that every object has', { agent: '__proto__' }, 'UNKNOWN_REFERENCE', ['input', 'agent']],
    ['an unknown user', { asUserId: someId }, 'UNKNOWN_REFERENCE', ['input', 'asUserId']],
    ['a user that is no id', { asUserId: '\u0000' }, 'UNKNOWN_REFERENCE', ['input', 'asUserId']],
    ['no organization where there are several', { organizationId: null }, 'INVALID_INPUT', ['input', 'organizationId']],
  ]);

  it('all problems at once, each with its path', async () => {
    const before = await countRows(test);
    const { payload } = await mutate(test, test.adminToken, 'createSession', {
      organizationId: test.organizationId,
      prompt: '',
      maxAcuLimit: 0,
      tags: ['', 'x'.repeat(201)],
    });
    expect(payload.userErrors.map(({ path }: { path: string[] }) => path.join('.')).sort()).toEqual([
      'input.maxAcuLimit',
      'input.prompt',
      'input.tags.0',
      'input.tags.1',
    ]);
    expect(await countRows(test)).toEqual(before);
  });

  it('a schema of 10,000 levels without a crash', async () => {
    const schema = `${'{"a":'.repeat(10_000)}{}${'}'.repeat(10_000)}`;
    const query = 'mutation($input: CreateSessionInput!) { createSession(input: $input) { userErrors { code path } } }';
    const before = await countRows(test);
    const response = await fetch(`${test.url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${test.adminToken}`, 'content-type': 'application/json' },
      body: `{"query":"${query}","variables":{"input":{"organizationId":"${test.organizationId}","prompt":"x","structuredOutputSchema":${schema}}}}`,
    });
    const body: any = await response.json();
    expect(response.status).toBe(400);
    expect(body.errors[0].message).toContain('128 levels');
    expect(await countRows(test)).toEqual(before);
  });
});

describe('sendMessage refuses', () => {
  refuses('sendMessage', () => ({ sessionId, body: 'x' }), [
    ['an empty message', { body: '' }, 'INVALID_INPUT', ['input', 'body']],
    ['a message of spaces', { body: '   ' }, 'INVALID_INPUT', ['input', 'body']],
    ['a message that is too long', { body: 'x'.repeat(500_001) }, 'INVALID_INPUT', ['input', 'body']],
    ['NUL', { body: '\u0000' }, 'INVALID_INPUT', ['input', 'body']],
    ['half a surrogate', { body: '\ud83d' }, 'INVALID_INPUT', ['input', 'body']],
    ['unknown attachments', { attachmentIds: [someId] }, 'UNKNOWN_REFERENCE', ['input', 'attachmentIds']],
    ['an empty idempotency key', { idempotencyKey: '' }, 'INVALID_INPUT', ['input', 'idempotencyKey']],
  ]);
});

describe('createOrganization refuses', () => {
  refuses('createOrganization', () => ({}), [
    ['an empty name', { name: '' }, 'INVALID_INPUT', ['input', 'name']],
    ['a long name', { name: 'x'.repeat(201) }, 'INVALID_INPUT', ['input', 'name']],
    ['NUL', { name: '\u0000' }, 'INVALID_INPUT', ['input', 'name']],
  ]);
});

describe('createUser refuses', () => {
  const member = () => ({ scope: { organizationId: test.organizationId }, roleId: 'org_member' });
  refuses('createUser', () => ({ email: 'new@example.test', ...member() }), [
    ['an invalid email address', { email: 'nobody' }, 'INVALID_INPUT', ['input', 'email']],
    ['NUL in an address', { email: 'a\u0000@example.test' }, 'INVALID_INPUT', ['input', 'email']],
    ['an address that is taken', { email: 'admin@localhost.test' }, 'NOT_UNIQUE', ['input', 'email']],
    ['a long name', { name: 'x'.repeat(201) }, 'INVALID_INPUT', ['input', 'name']],
    ['an unknown role', { roleId: 'emperor' }, 'UNKNOWN_REFERENCE', ['input', 'roleId']],
    ['a role that is no id', { roleId: '\u0000' }, 'UNKNOWN_REFERENCE', ['input', 'roleId']],
    ['a role of the enterprise', { roleId: 'account_member' }, 'INVALID_INPUT', ['input', 'roleId']],
    ['an organization’s role on the enterprise', { scope: { enterprise: true } }, 'INVALID_INPUT', ['input', 'roleId']],
    ['no scope', { scope: { enterprise: false } }, 'INVALID_INPUT', ['input', 'scope', 'enterprise']],
  ]);

  beforeAll(async () => {
    const input = { email: 'admin@localhost.test', ...member() };
    expect((await mutate(test, test.adminToken, 'createUser', input)).payload.userErrors).toEqual([]);
  });
});

const inFirst = () => ({ scope: { organizationId: test.organizationId } });

describe('createServiceUser refuses', () => {
  refuses('createServiceUser', () => ({ name: 'bot', roleId: 'org_member', ...inFirst() }), [
    ['an empty name', { name: '' }, 'INVALID_INPUT', ['input', 'name']],
    ['NUL', { name: '\u0000' }, 'INVALID_INPUT', ['input', 'name']],
    ['an unknown role', { roleId: 'emperor' }, 'UNKNOWN_REFERENCE', ['input', 'roleId']],
    ['a role of the enterprise', { roleId: 'account_admin' }, 'INVALID_INPUT', ['input', 'roleId']],
    [
      'a role of an organization without one',
      { scope: { enterprise: true }, roleId: 'org_admin' },
      'INVALID_INPUT',
      ['input', 'roleId'],
    ],
  ]);
});

describe('createApiKey refuses', () => {
  const past = '2001-01-01T00:00:00.000Z';
  const service = (roleId: string) => ({ kind: { service: { ...inFirst(), roleId } } });
  const ofRole = ['input', 'kind', 'service', 'roleId'];
  refuses('createApiKey', () => ({ name: 'key', ...service('org_member') }), [
    ['an empty name', { name: '' }, 'INVALID_INPUT', ['input', 'name']],
    ['NUL', { name: '\u0000' }, 'INVALID_INPUT', ['input', 'name']],
    ['an end in the past', { expiresAt: past }, 'INVALID_INPUT', ['input', 'expiresAt']],
    ['nobody’s personal key', { kind: { personal: {} } }, 'INVALID_INPUT', ['input', 'kind', 'personal', 'userId']],
    [
      'nobody’s access token',
      { kind: { personalAccessToken: {} } },
      'INVALID_INPUT',
      ['input', 'kind', 'personalAccessToken', 'userId'],
    ],
    [
      'an organization’s role on the enterprise',
      { kind: { service: { scope: { enterprise: true }, roleId: 'org_member' } } },
      'INVALID_INPUT',
      ofRole,
    ],
    [
      'no scope',
      { kind: { service: { scope: { enterprise: false }, roleId: 'org_member' } } },
      'INVALID_INPUT',
      ['input', 'kind', 'service', 'scope', 'enterprise'],
    ],
  ]);
  // Values that belong to an organization that is known only when the tests run.
  it.each([
    ['an unknown role', 'emperor', 'UNKNOWN_REFERENCE'],
    ['a role of the enterprise', 'account_member', 'INVALID_INPUT'],
  ])('%s', async (_what, roleId, code) => {
    const input = { name: 'key', ...service(roleId) };
    const { payload } = await mutate(test, test.adminToken, 'createApiKey', input);
    expect(payload).toMatchObject({ token: null, userErrors: [{ code, path: ofRole }] });
  });
});

describe('unknown and foreign ids are NOT_FOUND', () => {
  const inOwn: [string, MutationName, () => Input][] = [
    ['a session that nothing is', 'sendMessage', () => ({ sessionId: otherId(foreignId), body: 'x' })],
    ['a session of another organization', 'sendMessage', () => ({ sessionId: foreignId, body: 'x' })],
    ['garbage', 'sendMessage', () => ({ sessionId: '\u0000', body: 'x' })],
    ['a session of another organization', 'terminateSession', () => ({ sessionId: globalIdOf('Session', foreignId) })],
    ['an organization', 'createSession', () => ({ organizationId: otherId(test.organizationId), prompt: 'x' })],
    ['an organization that is no id', 'createSession', () => ({ organizationId: 'org-x', prompt: 'x' })],
    [
      'an organization',
      'createServiceUser',
      () => ({ scope: { organizationId: otherId(test.organizationId) }, roleId: 'org_member', name: 'x' }),
    ],
    ['a user', 'createApiKey', () => keyInput({ kind: 'PERSONAL_ACCESS_TOKEN', userId: someId })],
    ['a service user', 'createApiKey', () => keyInput({ kind: 'SERVICE_USER', serviceUserId: someId })],
  ];
  it.each(inOwn)('%s for %s', async (_what, name, input) => {
    const { token } = await makeOrganization(test, 'Own');
    // Only a viewer who may see all users can look them up.
    const asker = name === 'createApiKey' ? test.adminToken : token;
    const before = await countRows(test);
    const { payload, errors } = await mutate(test, asker, name, input());
    expect(payload).toBeNull();
    expect(errors).toMatchObject([{ path: [name], extensions: { code: 'NOT_FOUND' } }]);
    expect(await countRows(test)).toEqual(before);
  });

  it('an unknown organization, for a caller that may use all', async () => {
    const input = { organizationId: otherId(test.organizationId), prompt: 'x' };
    const { errors } = await mutate(test, test.adminToken, 'createSession', input);
    expect(errors).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
  });
});

it.each<[string, MutationName, Input]>([
  ['no prompt', 'createSession', {}],
  ['a prompt that is a number', 'createSession', { prompt: 5 }],
  ['a prompt that is null', 'createSession', { prompt: null }],
  ['a fraction of an ACU', 'createSession', { prompt: 'x', maxAcuLimit: 1.5 }],
  ['more ACUs than an Int', 'createSession', { prompt: 'x', maxAcuLimit: 2_147_483_648 }],
  ['a field that there is not', 'createSession', { prompt: 'x', repos: [] }],
  ['a kind of key that there is not', 'createApiKey', { kind: 'MASTER', name: 'x' }],
  ['a key of no kind', 'createApiKey', { kind: {}, name: 'x' }],
  ['a key of two kinds', 'createApiKey', { kind: { personal: {}, personalAccessToken: {} }, name: 'x' }],
  ['a service key without a role', 'createApiKey', { kind: { service: { scope: { enterprise: true } } }, name: 'x' }],
  ['a service user without a role', 'createServiceUser', { scope: { enterprise: true }, name: 'x' }],
  ['a user without a role', 'createUser', { scope: { enterprise: true }, email: 'x@example.test' }],
  ['a service user nowhere', 'createServiceUser', { roleId: 'org_member', name: 'x' }],
  ['a scope of two', 'createServiceUser', { scope: { enterprise: true, organizationId: 'x' }, roleId: 'x', name: 'x' }],
  [
    'an end that is no time',
    'createApiKey',
    { kind: { service: { scope: { enterprise: true }, roleId: 'org_admin' } }, name: 'x', expiresAt: 'soon' },
  ],
])('returns an error for input that the schema forbids: %s', async (_what, name, input) => {
  const before = await countRows(test);
  const { payload, errors } = await mutate(test, test.adminToken, name, input);
  expect(payload).toBeNull();
  expect(errors).toHaveLength(1);
  expect(errors?.[0].message).toMatch(/^Variable "\$input" got invalid value/);
  expect(await countRows(test)).toEqual(before);
});
