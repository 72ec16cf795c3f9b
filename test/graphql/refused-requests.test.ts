import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { call, graphql } from '../support/app.ts';
import { createAutomation, makeAutomatic } from '../support/automations.ts';
import { runMutation } from '../support/people.ts';
import { homeScope } from '../support/principals.ts';
import { connect, followOperation, rawSocket } from '../support/sockets.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

describe.each(['/graphql', '/graphql/stream'])('GET %s', (path) => {
  const query = encodeURIComponent('{ __typename }');
  const accepts = ['application/json', 'application/graphql-response+json', 'text/event-stream'];

  it.each(accepts)('names the parameter that is no JSON object to a client that accepts %s', async (accept) => {
    for (const name of ['variables', 'extensions']) {
      for (const text of ['{', 'nothing', '[]', '5', '"{}"']) {
        const target = `${path}?query=${query}&${name}=${encodeURIComponent(text)}`;
        const { status, body } = await call(test, test.adminToken, 'GET', target, undefined, { accept });
        expect({ status, body }).toEqual({
          status: 400,
          body: {
            errors: [
              { message: `"${name}" in the address must be a JSON object.`, extensions: { code: 'BAD_REQUEST' } },
            ],
          },
        });
        // Refused without a token.
        expect((await call(test, null, 'GET', target, undefined, { accept })).status).toBe(401);
      }
    }
  });
});

it('accepts empty variables and extensions in the address', async () => {
  const target = `/graphql?query=${encodeURIComponent('{ __typename }')}&variables=&extensions=null`;
  const { status, body } = await call(test, test.adminToken, 'GET', target);
  expect({ status, data: body.data }).toEqual({ status: 200, data: { __typename: 'Query' } });
});

it.each(['\u0000', 'a\u0000@example.com', '\ud800'])('refuses an impossible email address: %j', async (email) => {
  const query = 'query($email: String) { enterprise { users(filter: {email: $email}) { nodes { id } } } }';
  const { errors } = await graphql(test, test.adminToken, query, { email });
  expect(errors).toMatchObject([
    { extensions: { code: 'INVALID_INPUT' }, message: expect.stringMatching(/^"email" must be Unicode text/) },
  ]);
});

describe('on a socket', () => {
  it.each(['connection_ack', 'next', 'error'])('the server’s message type "%s" closes it with 4400', async (type) => {
    const socket = rawSocket(test.url);
    await once(socket, 'open');
    const closed = once(socket, 'close');
    socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: test.adminToken } }));
    await once(socket, 'message');
    const payload = { next: { data: {} }, error: [{ message: 'x' }], connection_ack: {} }[type];
    socket.send(JSON.stringify({ id: 'x', type, payload }));
    const [code, reason] = await closed;
    expect([code, String(reason)]).toEqual([4400, 'Invalid message received']);
  });

  it('an unknown operation name is an error with a code', async () => {
    const operations = [
      { query: 'query A { __typename }', operationName: 'B' },
      { query: 'query A { __typename } query B { __typename }' },
    ];
    for (const operation of operations) {
      expect(await followOperation(connect(test.url, test.adminToken), operation).errors()).toEqual([
        {
          message: 'The document must have the operation that "operationName" names.',
          extensions: { code: 'BAD_REQUEST' },
        },
      ]);
    }
  });
});

describe('a deleted object', () => {
  const nodes = async (token: string, id: string) => {
    const { data } = await graphql(test, token, 'query($id: ID!) { node(id: $id) { id } nodes(ids: [$id]) { id } }', {
      id,
    });
    return data;
  };

  it.each(['Playbook', 'Automation'])('of the type %s is no node', async (type) => {
    const { token } = await makeAutomatic(test);
    const made =
      type === 'Automation'
        ? (await createAutomation(test, {}, token, 'id')).automation
        : (
            await runMutation(
              test,
              'createPlaybook',
              'playbook { id }',
              { scope: homeScope(token), title: 'Gone', body: 'x' },
              token,
            )
          ).playbook;
    expect(await nodes(token, made.id)).toEqual({ node: { id: made.id }, nodes: [{ id: made.id }] });
    const name = type === 'Automation' ? 'automationId' : 'playbookId';
    await runMutation(test, `delete${type}`, `deleted${type}Id`, { [name]: made.id }, token);
    expect(await nodes(token, made.id)).toEqual({ node: null, nodes: [null] });
  });
});
