import { expect, it } from 'vitest';
import { call, graphql } from '../support/app.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const ask = async (query: string, variables: Record<string, unknown> = {}) =>
  (await graphql(test, test.adminToken, query, variables)).errors?.[0];

it.each([
  ['a moment', '"2026-11-21"', 'DateTime must be RFC 3339 text such as "2026-11-21T09:00:00Z", but was "2026-11-21".'],
  ['a moment', '5', 'DateTime must be RFC 3339 text such as "2026-11-21T09:00:00Z", but was 5.'],
])('states the form of %s if the value is %s', async (_what, literal, message) => {
  const inline = `{ organizations { nodes { sessions(filter: {createdAfter: ${literal}}) { nodes { title } } } } }`;
  expect(await ask(inline)).toMatchObject({
    message: message,
    locations: [{ line: 1, column: inline.indexOf(literal) + 1 }],
  });
  const query =
    'query($at: DateTime) { organizations { nodes { sessions(filter: {createdAfter: $at}) { nodes { title } } } } }';
  const error = await ask(query, { at: JSON.parse(literal) });
  expect(error.message).toContain(message);
  expect(error.extensions.code).toBe('INVALID_INPUT');
});

it('states the form of a date', async () => {
  const query = 'query($from: Date!) { enterprise { consumption(from: $from, to: $from) { totalAcus } } }';
  expect((await ask(query, { from: '21.11.2026' })).message).toContain(
    'Date must be a day as text such as "2026-11-21", but was "21.11.2026".',
  );
});

it('has a code for a missing variable', async () => {
  const error = await ask('query($id: ID!) { session(id: $id) { title } }');
  expect(error).toMatchObject({ extensions: { code: 'INVALID_INPUT' } });
  expect(error.message).toContain('$id');
});

it('names the item of a list, and its index', async () => {
  const sessionId = await createSession(test);
  const { data } = await graphql(
    test,
    test.adminToken,
    'mutation($id: ID!) { addSessionTags(input: {sessionId: $id, tags: ["a", "a", ""]}) { userErrors { message path } } }',
    { id: sessionId },
  );
  expect(data.addSessionTags.userErrors).toEqual([
    { message: '"tags[2]" must not be empty.', path: ['input', 'tags', '2'] },
  ]);
});

it('names a duplicate secret’s key', async () => {
  const { token } = await makeOrganization(test, 'Complaints of secrets');
  const create = `mutation { createSecret(input: {key: "TWICE", type: KEY_VALUE, value: "c4n4ry"}) {
    userErrors { code message path } } }`;
  await graphql(test, token, create);
  expect((await graphql(test, token, create)).data.createSecret.userErrors).toEqual([
    {
      code: 'NOT_UNIQUE',
      message: '"key" must be one that no other secret of the organization has, but "TWICE" is taken.',
      path: ['input', 'key'],
    },
  ]);
});

it('shows only the beginning of a long cursor, and names it as one', async () => {
  const error = await ask(`{ organizations(after: "${'x'.repeat(80)}") { nodes { name } } }`);
  expect(error).toMatchObject({ extensions: { code: 'BAD_CURSOR' } });
  expect(error.message).toContain(`"${'x'.repeat(60)}…"`);
});

it('accepts a document’s id as a string only, and states that', async () => {
  const { status, body } = await call(test, test.adminToken, 'POST', '/graphql', { documentId: 5 });
  expect({ status, error: body.errors[0] }).toMatchObject({
    status: 400,
    error: { message: '"documentId" must be a string, but was 5.', extensions: { code: 'BAD_REQUEST' } },
  });
});

it('refers to the list of event types', async () => {
  const { data } = await graphql(
    test,
    test.v1Key,
    `mutation { createAutomation(input: {name: "x", triggers: [{event: {eventType: "no:such"}}], actions: [{startSession: {prompt: "x"}}]}) {
      userErrors { message } } }`,
  );
  expect(data.createAutomation.userErrors[0].message).toContain('/automations/schemas');
});

it('describes the end of a session', async () => {
  const sessionId = await createSession(test);
  const read = async () =>
    (await graphql(test, test.adminToken, 'query($id: ID!) { session(id: $id) { endReason } }', { id: sessionId }))
      .data;
  expect(await read()).toEqual({ session: { endReason: null } });
  await graphql(
    test,
    test.adminToken,
    'mutation($id: ID!) { terminateSession(input: {sessionId: $id}) { session { id } } }',
    {
      id: sessionId,
    },
  );
  expect(await read()).toEqual({ session: { endReason: 'TERMINATED' } });
});
