import { expect, it, onTestFinished } from 'vitest';
import type { AgentUpdate } from '../../src/agents/agent.ts';
import { openGateway } from '../../src/agents/gateway/gateway.ts';
import { gatewayOf, type ProviderAnswer, providerKey, startProvider } from '../support/provider.ts';

type Api = Parameters<typeof gatewayOf>[1];

const open = async (answer: ProviderAnswer, api: Api = 'openai', path = '') => {
  const provider = await startProvider(answer);
  const usages: (AgentUpdate & { type: 'usage' })[] = [];
  let counted: () => void = () => undefined;
  const firstUsage = new Promise<void>((resolve) => {
    counted = resolve;
  });
  const gateway = await openGateway({
    ...gatewayOf(provider.url + path, api),
    socketPath: null,
    onUsage: (usage) => {
      usages.push(usage);
      counted();
    },
  });
  onTestFinished(() => gateway.close());
  const url = `http://127.0.0.1:${gateway.port}`;
  const ask = (target: string, init: RequestInit = {}) =>
    fetch(url + target, {
      method: 'POST',
      body: '{"model":"m"}',
      ...init,
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...init.headers },
    });
  return { ...provider, gateway, usages, firstUsage, ask, at: url };
};

const events = (...each: object[]) => each.map((event) => `data: ${JSON.stringify(event)}\n\n`);

it.each([
  {
    what: 'chat completions of OpenAI',
    api: 'openai',
    target: '/v1/chat/completions',
    body: JSON.stringify({
      usage: { prompt_tokens: 100, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 60 } },
    }),
    counts: [100, 20, 60],
  },
  {
    what: 'a stream of chat completions, cut anywhere',
    api: 'openai',
    target: '/v1/chat/completions',
    type: 'text/event-stream; charset=utf-8',
    body: [
      'data: {"choices":[{"delta":{"content":"he said \\"usage\\""}}]}\r\n\r\nda',
      'ta: {"choices":[],"usage":{"prompt_tok',
      'ens":7,"completion_tokens":3}}\n\ndata: [DONE]\n\n',
    ],
    counts: [7, 3, null],
  },
  {
    what: 'a stream of responses of OpenAI',
    api: 'openai',
    target: '/v1/responses',
    type: 'text/event-stream',
    body: events(
      { type: 'response.created', response: { usage: null } },
      {
        type: 'response.completed',
        response: { usage: { input_tokens: 50, output_tokens: 9, input_tokens_details: { cached_tokens: 40 } } },
      },
    ),
    counts: [50, 9, 40],
  },
  {
    what: 'a stream of messages of Anthropic, whose cache is counted apart',
    api: 'anthropic',
    target: '/v1/messages',
    type: 'text/event-stream',
    body: events(
      {
        type: 'message_start',
        message: {
          usage: { input_tokens: 10, cache_read_input_tokens: 200, cache_creation_input_tokens: 5, output_tokens: 1 },
        },
      },
      { type: 'message_delta', usage: { output_tokens: 33 } },
    ),
    counts: [215, 33, 200],
  },
  {
    what: 'a stream of Gemini, whose counts grow',
    api: 'gemini',
    target: '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
    type: 'text/event-stream',
    body: events(
      { usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 1 } },
      {
        usageMetadata: {
          promptTokenCount: 12,
          candidatesTokenCount: 4,
          thoughtsTokenCount: 6,
          cachedContentTokenCount: 8,
        },
      },
    ),
    counts: [12, 10, 8],
  },
  {
    what: 'an array of Gemini',
    api: 'gemini',
    target: '/v1beta/models/gemini-2.5-flash:streamGenerateContent',
    body: JSON.stringify([{}, { usageMetadata: { promptTokenCount: 2, candidatesTokenCount: 3 } }]),
    counts: [2, 3, null],
  },
  {
    what: 'an answer that does not say it',
    api: 'openai',
    target: '/chat/completions',
    body: '{}',
    counts: [null, null, null],
  },
] as const)('counts the usage of a call: $what', async ({ api, target, body, counts, ...rest }) => {
  const { ask, usages, firstUsage, seen } = await open({ body, ...rest }, api);
  const answer = await ask(target);
  expect(await answer.text()).toBe([body].flat().join(''));
  await firstUsage;
  const [inputTokens, outputTokens, cachedTokens] = counts;
  expect(usages).toEqual([
    expect.objectContaining({ source: 'gateway', llmCalls: 1, inputTokens, outputTokens, cachedTokens }),
  ]);
  expect(seen[0]).toMatchObject({ method: 'POST', url: target, body: '{"model":"m"}' });
});

it.each([
  { api: 'openai', target: '/chat/completions', name: 'authorization', value: `Bearer ${providerKey}` },
  { api: 'anthropic', target: '/v1/messages', name: 'x-api-key', value: providerKey },
  {
    api: 'gemini',
    target: '/v1beta/models/g:generateContent',
    name: 'x-goog-api-key',
    value: providerKey,
  },
] as const)('sends the real key where $api expects it, and forwards no other', async ({ api, target, name, value }) => {
  const { ask, seen, gateway } = await open({ body: '{}' }, api, '/base');
  const sentHeaders = { authorization: '', 'x-api-key': gateway.key, 'x-goog-api-key': gateway.key, cookie: 'a=b' };
  expect((await ask(`${target}?key=${gateway.key}&alt=sse`, { headers: sentHeaders })).status).toBe(200);
  expect(seen[0]?.url).toBe(`/base${target}?alt=sse`);
  expect(seen[0]?.headers).toMatchObject({ [name]: value, 'accept-encoding': 'identity' });
  expect(JSON.stringify(seen)).not.toContain(gateway.key);
  const others = ['authorization', 'x-api-key', 'x-goog-api-key', 'cookie'].filter((each) => each !== name);
  for (const other of others) expect(seen[0]?.headers).not.toHaveProperty(other);
});

it('forwards only the response formats in which it can read usage', async () => {
  const { ask, seen } = await open({ body: '{}' }, 'gemini');
  const target = '/v1beta/models/g:generateContent';
  for (const query of ['alt=json', 'alt=sse', 'alt=proto', 'alt=media&alt=json', 'alt='])
    await ask(`${target}?${query}`);
  expect(seen.map(({ url }) => url.slice(target.length))).toEqual(['?alt=json', '?alt=sse', '', '?alt=json', '']);
});

it('accepts only its own key', async () => {
  const { ask, seen } = await open({ body: '{}' });
  for (const authorization of ['', 'Bearer sk-switchyard-', `Bearer ${providerKey}`]) {
    expect((await ask('/v1/chat/completions', { headers: { authorization } })).status).toBe(401);
  }
  expect(seen).toEqual([]);
});

it.each([
  { method: 'GET', target: '/v1/files' },
  { method: 'GET', target: '/v1/responses/resp_1' },
  { method: 'DELETE', target: '/v1/models/mine' },
  { method: 'POST', target: '/v1/chat/completions/../files' },
  { method: 'POST', target: '/v1/chat/completions/%2e%2e/files' },
  { method: 'GET', target: '//elsewhere.example/v1/files' },
  { method: 'GET', target: '//elsewhere.example/models' },
  { method: 'GET', target: '/files/models' },
  { method: 'GET', target: '/organization/users/models' },
  { method: 'GET', target: '/files%3F/models' },
  { method: 'GET', target: '/models/..%2ffiles%2Ffile-1%2fcontent' },
  { method: 'GET', target: '/models/..%5c..%5Cfiles' },
  { method: 'GET', target: '/models/x%252ffiles' },
  { method: 'GET', target: '/models/..;/files' },
  { method: 'GET', target: '/models/%00' },
  { method: 'GET', target: '/models/%ff' },
  { method: 'GET', target: '/models/x%0d%0aEvil:1' },
  { method: 'GET', target: '/v1/v1/models' },
  { method: 'POST', target: '/models/mine' },
  { method: 'POST', target: '/files/chat/completions' },
  { method: 'GET', target: '/v1/chat/completions' },
])('lets an agent call its model, but not act in the name of the key: $method $target', async ({ method, target }) => {
  const { seen, at, gateway } = await open({ body: '{}' });
  const { request } = await import('node:http');
  const status = await new Promise((resolve) => {
    const { port } = new URL(at);
    const headers = { authorization: `Bearer ${gateway.key}` };
    request({ port, method, path: target, headers }, (answer) => resolve(answer.statusCode)).end();
  });
  expect(status).toBe(403);
  expect(seen).toEqual([]);
});

it.each([
  { api: 'openai', target: '/models' },
  { api: 'openai', target: '/v1/models/ft:gpt-4o-mini:acme::7p4l' },
  { api: 'openai', target: '/v1/models/ft%3Agpt-4o-mini' },
  { api: 'openai', target: '/v1/models/maker/model-1.5' },
  { api: 'anthropic', target: '/v1/models/claude-1' },
  { api: 'gemini', target: '/v1beta/models/gemini-2.5-flash' },
] as const)('answers a request about models of $api: $target', async ({ api, target }) => {
  const { ask, seen } = await open({ body: '{}' }, api);
  expect((await ask(target, { method: 'GET', body: null })).status).toBe(200);
  expect(seen).toEqual([expect.objectContaining({ method: 'GET', url: target })]);
});

it.each([
  { api: 'anthropic', target: '/v1/messages/count_tokens?beta=true' },
  { api: 'gemini', target: '/v1beta/models/gemini-2.5-flash:countTokens' },
] as const)('forwards a request to count tokens without counting a call: $target', async ({ api, target }) => {
  const { ask, seen, usages } = await open({ body: '{"usage":{"input_tokens":1}}' }, api);
  expect((await ask(target)).status).toBe(200);
  expect(seen[0]?.url).toBe(target);
  expect(usages).toEqual([]);
});

it('forwards the headers of a call, and none that authenticates or changes the method', async () => {
  const { ask, seen } = await open({ body: '{}' });
  const needed = { 'openai-beta': 'responses=v1', 'user-agent': 'agent/1', 'x-stainless-lang': 'js' };
  const droppedHeaders = {
    'openai-organization': 'org-other',
    'openai-project': 'proj-other',
    'x-forwarded-host': 'elsewhere.example',
    'x-http-method-override': 'DELETE',
    'x-method-override': 'DELETE',
    'x-original-url': '/files',
  };
  const target = '/v1/chat/completions?$httpMethod=DELETE&_method=DELETE&api-version=2&access_token=t';
  expect((await ask(target, { headers: { ...needed, ...droppedHeaders } })).status).toBe(200);
  expect(seen[0]).toMatchObject({ url: '/v1/chat/completions?api-version=2', headers: needed });
  for (const name of Object.keys(droppedHeaders)) expect(seen[0]?.headers).not.toHaveProperty(name);
});

it('counts no requests about models, and no refusals, and masks the key in a refusal', async () => {
  const { ask, usages } = await open({ status: 401, body: `{"error":"Incorrect key: ${providerKey}"}` });
  const answer = await ask('/v1/chat/completions');
  expect(answer.status).toBe(401);
  expect(await answer.text()).toBe('{"error":"Incorrect key: ********"}');
  expect((await ask('/v1/models', { method: 'GET', body: null })).status).toBe(401);
  expect(usages).toEqual([]);
});

it('counts the usage of a response that the agent did not wait for', async () => {
  const body = events({ message: { usage: { input_tokens: 10, output_tokens: 1 } } });
  const { ask, usages, firstUsage } = await open({ type: 'text/event-stream', body, isEndless: true }, 'anthropic');
  const controller = new AbortController();
  const answer = await ask('/v1/messages', { signal: controller.signal });
  await answer.body?.getReader().read();
  controller.abort();
  await firstUsage;
  expect(usages).toEqual([expect.objectContaining({ inputTokens: 10, outputTokens: 1 })]);
});

it('reports an unreachable provider, and ends with the agent', async () => {
  const gateway = await openGateway({
    ...gatewayOf('http://127.0.0.1:9'),
    socketPath: null,
    onUsage: () => undefined,
  });
  const ask = () =>
    fetch(`http://127.0.0.1:${gateway.port}/responses`, {
      method: 'POST',
      body: '{}',
      headers: { authorization: `Bearer ${gateway.key}` },
    });
  const answer = await ask();
  expect(answer.status).toBe(502);
  expect(await answer.json()).toMatchObject({
    error: { message: 'The provider at http://127.0.0.1:9 could not be reached.' },
  });
  await Promise.all([gateway.close(), gateway.close()]);
  await expect(ask()).rejects.toThrow();
});
