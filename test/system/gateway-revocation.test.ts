import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { mutationDocument } from '../support/mutations.ts';
import { writeProfiles } from '../support/profiles.ts';
import { providerKey } from '../support/provider.ts';
import { openRawProvider, type RawProvider, readRequests } from '../support/raw-http.ts';
import { createSession } from '../support/sessions.ts';
import { testDatabase } from '../support/test-store.ts';

// An ACP agent that ignores all requests to stop. In its turn it calls its model, sends its process id to the provider,
// calls again when the call is aborted, and records the result. It lives until it is killed.
const stubborn = `
  const { writeFileSync } = require('node:fs');
  const put = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
  const ask = () => fetch(process.env.MODEL_URL + '/v1/responses', {
    method: 'POST', headers: { authorization: 'Bearer ' + process.env.MODEL_TOKEN }, body: JSON.stringify({ pid: process.pid }),
  }).then((response) => response.text());
  process.on('SIGTERM', () => undefined);
  setInterval(() => undefined, 60000);
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    if (method === 'initialize') put({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
    else if (method === 'session/new') put({ id, result: { sessionId: 's1' } });
    else if (method === 'session/prompt')
      ask().catch(ask).then(() => 'answered', (error) => error.cause?.code ?? String(error))
        .then((outcome) => writeFileSync('second-call.txt', outcome));
  });
`;

const event = 'data: {"usage":{"input_tokens":7,"output_tokens":1}}\n\n';
const begun = `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n${event.length.toString(16)}\r\n${event}\r\n`;

let provider: RawProvider;
let test: TestApp;
let calls = 0;
beforeAll(async () => {
  provider = await openRawProvider((wire) => wire.send(begun));
  // Longer than any test waits: an operation that ends in time did not wait for it.
  const graces = { cancel: 600_000, stdin: 600_000, term: 600_000 };
  const agentsConfig = await writeProfiles(
    {},
    {
      id: 'stubborn',
      command: [process.execPath, '-e', stubborn],
      sandbox: 'none',
      mcp: false,
      env: { MODEL_KEY: providerKey },
      provider: {
        variables: ['MODEL_KEY'],
        gateway: true,
        api: 'openai',
        'base_url': provider.url,
        'gateway_env': { MODEL_URL: '{url}', MODEL_TOKEN: '{key}' },
      },
      'stop_graces_ms': graces,
    },
  );
  test = await startApp({ roles: ['api', 'worker'], agentsConfig });
});
afterAll(async () => {
  await test.close();
  provider.close();
});

const ledgerOf = (id: string) =>
  test.app.services.store.query(
    `select llm_calls as "llmCalls", input_tokens::int as "inputTokens", output_tokens::int as "outputTokens", source
       from usage where session_id = $1 and llm_calls > 0`,
    [id],
  );

// Starts a session whose agent is in the middle of a model call, stops it, and returns the final ledger.
const stopInCall = async (stop: (id: string) => Promise<unknown>) => {
  const id = await createSession(test, { prompt: 'work', agent: 'stubborn' });
  const wire = await provider.wire(calls++);
  await wire.waitFor(/"pid":\d+\}/);
  const { pid } = JSON.parse(readRequests(wire.received())[0]?.body ?? '{}') as { pid: number };
  try {
    await stop(id);
    await wire.closed;
    const second = join(test.dataDir, 'sessions', id, 'ws', 'second-call.txt');
    await expect
      .poll(() => readFile(second, 'utf8').catch(() => null))
      .toMatch(/^(ECONNREFUSED|ECONNRESET|UND_ERR_SOCKET)$/);
    // All of it while the agent still exists.
    expect(process.kill(pid, 0)).toBe(true);
  } finally {
    process.kill(pid, 'SIGKILL');
  }
  expect(provider.wires).toHaveLength(calls);
  await expect.poll(() => ledgerOf(id)).not.toEqual([]);
  return ledgerOf(id);
};

const used = [{ llmCalls: 1, inputTokens: 7, outputTokens: 1, source: 'gateway' }];
const act = async (app: TestApp, name: string, sessionId: string) => {
  const mutation = mutationDocument(name, 'userErrors { message }');
  const { data, errors } = await graphql(app, test.adminToken, mutation, { input: { sessionId } });
  expect(errors).toBeUndefined();
  expect(data[name].userErrors).toEqual([]);
};

describe('model calls of an agent that is being stopped end and count when its session', () => {
  it('is terminated', async () => {
    expect(await stopInCall((id) => act(test, 'terminateSession', id))).toEqual(used);
  });

  it('is suspended', async () => {
    expect(await stopInCall((id) => act(test, 'suspendSession', id))).toEqual(used);
  });

  it('is terminated during its suspension', async () => {
    const both = (id: string) => act(test, 'suspendSession', id).then(() => act(test, 'terminateSession', id));
    expect(await stopInCall(both)).toEqual(used);
  });

  it('is claimed by another worker', async () => {
    const take = (id: string) =>
      test.app.services.store.execute(
        'update run set generation = generation + 1, queued_at = null where session_id = $1',
        [id],
      );
    expect(await stopInCall(take)).toEqual(used);
  });

  it.skipIf(testDatabase === 'pglite')('is terminated through another process', async () => {
    const another = await test.another({ roles: ['api'] });
    try {
      const terminate = async (id: string) =>
        expect((await call(another, test.v1Key, 'DELETE', `/v1/sessions/${id}`)).status).toBe(200);
      expect(await stopInCall(terminate)).toEqual(used);
    } finally {
      await another.close();
    }
  });
});
