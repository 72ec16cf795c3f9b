import { describe, expect, it } from 'vitest';
import { call } from '../support/app.ts';
import { createAutomation, makeAutomatic } from '../support/automations.ts';
import { rawSocket } from '../support/sockets.ts';
import { transportNames, transports } from '../support/transports.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

/** An array with this many levels. */
const nested = (levels: number): unknown[] => (levels === 1 ? [] : [nested(levels - 1)]);
const deepObject = (levels: number) => `{"payload":${'['.repeat(levels)}${']'.repeat(levels)}}`;
/** Text that JSON.parse would take long to parse. */
const veryDeep = deepObject(300_000);
/** As deep as the length limit of a socket message allows. */
const deepMessage = deepObject(20_000);
const tooDeep = /nests? (?:too deep|deeper than 128 levels)/;

const query = 'query($id: ID!) { node(id: $id) { id } }';

describe('GraphQL', () => {
  it.each(transportNames)('refuses variables that nest too deeply, by %s', async (name) => {
    const send = (levels: number) =>
      transports[name](test, test.adminToken, { query, variables: { id: 'x', more: nested(levels) } });
    expect((await send(200)).errors?.[0]?.message).toMatch(tooDeep);
    expect(JSON.stringify((await send(100)).errors ?? '')).not.toMatch(tooDeep);
  });

  it('closes a socket for a message that nests too deeply and is no operation', async () => {
    const socket = rawSocket(test.url);
    const closed = new Promise<number>((resolve) => socket.on('close', resolve));
    socket.on('open', () => socket.send(deepMessage.replace('{', '{"type":"connection_init",')));
    expect(await closed).toBe(4400);
  });

  it('answers an operation on a socket by its id, anywhere in the message', async () => {
    const socket = rawSocket(test.url);
    socket.on('open', () =>
      socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${test.adminToken}` } })),
    );
    const message = await new Promise<{ id: string; payload: { message: string }[] }>((resolve) => {
      socket.on('message', (data) => {
        const { type, ...rest } = JSON.parse(String(data));
        if (type === 'connection_ack') socket.send(deepMessage.replace(/}$/, ',"id":"mine","type":"subscribe"}'));
        if (type === 'error') resolve(rest);
      });
    });
    expect([message.id, message.payload[0]?.message]).toEqual(['mine', expect.stringMatching(tooDeep)]);
  });
});

describe('REST', () => {
  const bodies = [veryDeep, '['.repeat(500_000), JSON.stringify({ prompt: 'x', title: nested(200) })];

  it.each(['v1', 'v2', 'v3'] as const)('refuses bodies that nest too deeply: %s', async (version) => {
    const { organizationId, token } = await makeAutomatic(test);
    const [key, path] = {
      v1: [test.v1Key, '/v1/sessions'],
      v2: [test.v1Key, '/v2/enterprise/organizations'],
      v3: [token, `/v3/organizations/${organizationId}/automations`],
    }[version] as [string, string];
    for (const body of bodies) {
      const response = await fetch(test.url + path, {
        method: 'POST',
        headers: { 'authorization': `Bearer ${key}`, 'content-type': 'application/json' },
        body,
      });
      expect([response.status, await response.text()]).toEqual([400, expect.stringMatching(tooDeep)]);
    }
    const { status, body } = await call(test, key, 'POST', path, { nonsense: nested(100) });
    expect([status >= 400, JSON.stringify(body)]).toEqual([true, expect.not.stringMatching(tooDeep)]);
  });

  it('refuses webhook deliveries that nest too deeply', async () => {
    const { token } = await makeAutomatic(test);
    const triggers = [{ incomingWebhook: {} }];
    const { automation, webhookSecret } = await createAutomation(test, { triggers }, token);
    const send = async (body: string) => {
      const response = await fetch(test.url + new URL(automation.triggers[0].webhookUrl).pathname, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-webhook-secret': webhookSecret },
        body,
      });
      return [response.status, await response.text()];
    };
    const refused = [400, expect.stringMatching(tooDeep)];
    expect(await send('['.repeat(60_000))).toEqual(refused);
    expect(await send(JSON.stringify(nested(200)))).toEqual(refused);
    expect((await send(JSON.stringify(nested(100))))[0]).toBe(202);
  });
});
