import { expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { mutate } from '../support/mutations.ts';
import { makeUser } from '../support/principals.ts';
import { createSession } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const create =
  'mutation($input: CreateSessionInput!) { createSession(input: $input) { wasReplayed session { sessionId } userErrors { code path message } } }';
const send =
  'mutation($input: SendMessageInput!) { sendMessage(input: $input) { message { eventId } userErrors { code path message } } }';

const run = async (query: string, input: Record<string, unknown>, headers: Record<string, string> = {}) => {
  const { data, errors } = await graphql(test, test.adminToken, query, { input }, headers);
  expect(errors).toBeUndefined();
  return Object.values(data)[0] as any;
};
const inOrganization = (input: Record<string, unknown>) => ({ organizationId: test.organizationId, ...input });
const countSessions = async () => {
  const [row] = await test.app.services.store.query<{ n: number }>('select count(*)::int as n from session');
  return row?.n;
};

it('creates one session for 100 concurrent requests with the same key', async () => {
  const before = (await countSessions()) ?? 0;
  const input = inOrganization({ prompt: 'once', idempotencyKey: 'parallel' });
  const payloads = await Promise.all(Array.from({ length: 100 }, () => run(create, input)));
  expect(new Set(payloads.map((payload) => payload.session.sessionId)).size).toBe(1);
  expect(payloads.filter((payload) => !payload.wasReplayed)).toHaveLength(1);
  expect(await countSessions()).toBe(before + 1);
});

it('sends one message for 100 concurrent requests with the same key', async () => {
  const sessionId = await createSession(test);
  const input = { sessionId, body: 'once', idempotencyKey: 'parallel' };
  const payloads = await Promise.all(Array.from({ length: 100 }, () => run(send, input)));
  expect(new Set(payloads.map((payload) => payload.message.eventId)).size).toBe(1);
  const { data } = await graphql(
    test,
    test.adminToken,
    'query($id: ID!) { session(id: $id) { messages { nodes { body } } } }',
    { id: sessionId },
  );
  expect(data.session.messages.nodes.map(({ body }: { body: string }) => body)).toEqual(['say hello', 'once']);
});

it('accepts the key in the header, equal to a key in the input', async () => {
  const input = inOrganization({ prompt: 'by header' });
  const first = await run(create, input, { 'idempotency-key': 'header' });
  const second = await run(create, { ...input, idempotencyKey: 'header' });
  const third = await run(create, { ...input, idempotencyKey: 'header' }, { 'idempotency-key': 'header' });
  expect(first.wasReplayed).toBe(false);
  for (const again of [second, third]) expect(again).toEqual({ ...first, wasReplayed: true });
});

const refusals: [string, Record<string, unknown>, Record<string, string>, object][] = [
  [
    'a header and an input that disagree',
    { idempotencyKey: 'one' },
    { 'idempotency-key': 'two' },
    { code: 'INVALID_INPUT', path: ['input', 'idempotencyKey'] },
  ],
  ['an empty key', { idempotencyKey: '' }, {}, { code: 'INVALID_INPUT', path: ['input', 'idempotencyKey'] }],
  ['a long key', { idempotencyKey: 'x'.repeat(256) }, {}, { code: 'INVALID_INPUT', path: ['input', 'idempotencyKey'] }],
  [
    'a key that is not ASCII',
    { idempotencyKey: 'ü' },
    {},
    { code: 'INVALID_INPUT', path: ['input', 'idempotencyKey'] },
  ],
];

it.each(refusals)('refuses %s', async (_what, input, headers, refusal) => {
  const before = await countSessions();
  const payload = await run(create, inOrganization({ prompt: 'never', ...input }), headers);
  expect(payload).toMatchObject({ session: null, wasReplayed: false, userErrors: [refusal] });
  expect(await countSessions()).toBe(before);
});

it('refuses a key that was used with other input, and keeps the first result', async () => {
  const first = await run(create, inOrganization({ prompt: 'first', idempotencyKey: 'reused' }));
  const other = await run(create, inOrganization({ prompt: 'other', idempotencyKey: 'reused' }));
  expect(other).toMatchObject({ session: null, userErrors: [{ code: 'IDEMPOTENCY_CONFLICT', path: null }] });
  const again = await run(create, inOrganization({ prompt: 'first', idempotencyKey: 'reused' }));
  expect(again.session).toEqual(first.session);
});

it('refuses one header for several creating mutations, and runs none of them', async () => {
  const before = await countSessions();
  const { data } = await graphql(
    test,
    test.adminToken,
    `mutation($input: CreateSessionInput!) {
       one: createSession(input: $input) { session { id } userErrors { code message } }
       ...Others
     }
     fragment Others on Mutation { two: createSession(input: $input) { session { id } userErrors { code } } }`,
    { input: inOrganization({ prompt: 'never' }) },
    { 'idempotency-key': 'several' },
  );
  expect(data).toMatchObject({
    one: { session: null, userErrors: [{ code: 'INVALID_INPUT' }] },
    two: { session: null, userErrors: [{ code: 'INVALID_INPUT' }] },
  });
  expect(data.one.userErrors[0].message).toContain('the operation has 2');
  expect(await countSessions()).toBe(before);
});

it('accepts the header with a mutation that creates nothing', async () => {
  const sessionId = await createSession(test);
  const { data } = await graphql(
    test,
    test.adminToken,
    `mutation($input: CreateSessionInput!, $end: TerminateSessionInput!) {
       createSession(input: $input) { wasReplayed } terminateSession(input: $end) { session { status } }
     }`,
    { input: inOrganization({ prompt: 'beside' }), end: { sessionId } },
    { 'idempotency-key': 'beside' },
  );
  expect(data).toEqual({ createSession: { wasReplayed: false }, terminateSession: { session: { status: 'EXIT' } } });
});

it('separates the keys of principals', async () => {
  const users = [await makeUser(test), await makeUser(test)];
  const input = inOrganization({ prompt: 'mine', idempotencyKey: 'shared' });
  const payloads = await Promise.all(users.map(({ token }) => mutate(test, token, 'createSession', input)));
  expect(payloads.map(({ payload }) => payload.wasReplayed)).toEqual([false, false]);
  expect(payloads.map(({ payload }) => payload.session.createdBy.userId)).toEqual(users.map(({ userId }) => userId));
  // A key of another principal looks like an unused one: other input is no conflict.
  const { token } = await makeUser(test);
  const other = await mutate(test, token, 'createSession', { ...input, prompt: 'something else' });
  expect(other.payload).toMatchObject({ wasReplayed: false, userErrors: [] });
});

it('separates the keys of operations, and refuses a message’s key for another message or session', async () => {
  const [one, two] = [await createSession(test), await createSession(test)];
  const made = await run(create, inOrganization({ prompt: 'x', idempotencyKey: 'everywhere' }));
  expect(made.wasReplayed).toBe(false);
  const sent = await run(send, { sessionId: one, body: 'x', idempotencyKey: 'everywhere' });
  expect(sent.userErrors).toEqual([]);
  const prefixed = await run(send, { sessionId: `devin-${one}`, body: 'x', idempotencyKey: 'everywhere' });
  expect(prefixed).toEqual(sent);
  for (const other of [
    { sessionId: one, body: 'y' },
    { sessionId: two, body: 'x' },
  ]) {
    const refused = await run(send, { ...other, idempotencyKey: 'everywhere' });
    expect(refused).toMatchObject({ message: null, userErrors: [{ code: 'IDEMPOTENCY_CONFLICT' }] });
  }
});

it('forgets a refused call: its key can be used again', async () => {
  const refused = await run(create, inOrganization({ prompt: '', idempotencyKey: 'corrected' }));
  expect(refused.userErrors).toHaveLength(1);
  const corrected = await run(create, inOrganization({ prompt: 'x', idempotencyKey: 'corrected' }));
  expect(corrected).toMatchObject({ wasReplayed: false, userErrors: [] });
});

it('answers a message’s key even if the session accepts no more messages', async () => {
  const sessionId = await createSession(test);
  const input = { sessionId, body: 'last words', idempotencyKey: 'last' };
  const first = await run(send, input);
  await mutate(test, test.adminToken, 'terminateSession', { sessionId });
  expect(await run(send, input)).toEqual(first);
});
