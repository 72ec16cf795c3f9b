import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import type { CallCost, CallUse, ProviderCredential, Reservation } from '../../src/agents/credential.ts';
import { readCosts } from '../../src/providers/prices.ts';
import { openTestGateway } from '../support/open-gateway.ts';

type Answer = (body: any, outgoing: ServerResponse, incoming: IncomingMessage) => void;
const prices = { inputUsd: 10, cachedUsd: null, outputUsd: 100 };
const used = { prompt_tokens: 1_000, completion_tokens: 2_000 };
/** The cost of an answer with these figures. */
const usedUsd = (1_000 * 10 + 2_000 * 100) / 1_000_000;
const stream = (outgoing: ServerResponse, ...events: unknown[]) => {
  if (!outgoing.headersSent) outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) outgoing.write(`data: ${JSON.stringify(event)}\n\n`);
};
const complete: Answer = (_, outgoing) => outgoing.end(JSON.stringify({ model: 'm', usage: used }));

/** Opens a gateway to a server with `answer`, for a key with a budget that grants every call. */
async function openBudgeted(
  answer: Answer,
  outputUsd: number | null = null,
  api: 'openai' | 'anthropic' | 'gemini' = 'openai',
) {
  const bodies: any[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const body = await json(incoming);
    bodies.push(body);
    answer(body, outgoing, incoming);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const reserved: CallCost[] = [];
  const settled: (CallUse | null)[] = [];
  const stopping = new AbortController();
  const costOf = await readCosts('compatible', prices);
  const credential: ProviderCredential = {
    keyId: 'key-1',
    label: 'the key "Team" of the organization',
    provider: 'compatible',
    key: 'sk-c4n4ry',
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    isPrivateAllowed: null,
    costOf,
    budget: {
      async reserve(cost) {
        reserved.push(cost);
        const at = settled.length;
        const reservation: Reservation = {
          outputUsd,
          stopped: stopping.signal,
          settle: (use) => void (settled.length === at ? settled.push(use) : undefined),
        };
        return reservation;
      },
    },
  };
  const opened = await openTestGateway('http://127.0.0.1:9', { credential: () => credential }, api);
  const { port, key } = opened.gateway;
  const call = (body: unknown, path = '/chat/completions', signal: AbortSignal | null = null) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      signal,
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { authorization: `Bearer ${key}` },
    });
  const settledUse = async () => {
    await expect.poll(() => settled.length).toBeGreaterThan(0);
    return settled[0];
  };
  return { ...opened, call, bodies, reserved, settled, settledUse, stopping };
}
const messages = [{ role: 'user', content: 'x'.repeat(300) }];

it('reserves the highest cost of a call, and replaces it by the cost of its answer', async () => {
  const { call, reserved, settledUse, usages } = await openBudgeted(complete);
  expect((await call({ model: 'm', messages, max_tokens: 1_000, n: 3 })).status).toBe(200);
  const [cost] = reserved;
  expect(cost?.maxOutputUsd).toBeCloseTo((3_000 * 100) / 1e6);
  // Every byte may be a token.
  expect(cost?.maxInputUsd).toBeGreaterThan((300 * 10) / 1e6);
  expect(cost?.inputUsd).toBeCloseTo((cost?.maxInputUsd ?? 0) / 3, 4);
  expect(await settledUse()).toEqual({ inputTokens: 1_000, cachedTokens: 0, outputTokens: 2_000, costUsd: usedUsd });
  // The key's usage is written with the reservation, not with the session's.
  expect(usages).toMatchObject([{ inputTokens: 1_000, costUsd: usedUsd }]);
  expect(usages[0]).not.toHaveProperty('providerKeyId');
});

it.each([
  ['background: true', '/responses', { input: 'x', background: true }, 'background'],
  ['background: "true"', '/responses', { input: 'x', background: 'true' }, 'background'],
  ['a stored conversation', '/responses', { input: 'x', previous_response_id: 'r1' }, 'previous_response_id'],
  ['a reference without a type', '/responses', { input: [{ id: 'msg_1' }] }, 'item_reference'],
  ['a stored prompt', '/responses', { prompt: { id: 'p' } }, 'prompt'],
  ['a web search', '/responses', { input: 'x', tools: [{ type: 'web_search' }] }, 'a tool that runs at the provider'],
  ['a search by a member', '/chat/completions', { messages, web_search_options: {} }, 'web_search_options'],
  ['sound', '/chat/completions', { messages, modalities: ['text', 'audio'] }, 'modalities'],
  ['a higher tier', '/chat/completions', { messages, service_tier: 'priority' }, 'service_tier'],
  ['a limit in another spelling', '/chat/completions', { messages, MAX_TOKENS: 1 }, 'MAX_TOKENS'],
  ['a limit as text', '/chat/completions', { messages, max_tokens: '1' }, 'max_tokens'],
  [
    'a limit of another call, at an encoded path',
    '/%72esponses',
    { input: [{ type: 'item_reference', id: 'i' }] },
    'item_reference',
  ],
  ['several choices in another spelling', '/chat/completions', { messages, N: 16 }, '"N"'],
])('refuses a call with %s', async (_, path, body, words) => {
  const { call, bodies, reserved } = await openBudgeted(complete);
  const refused = await call({ model: 'm', ...body }, path);
  expect(refused.status).toBe(403);
  const { error } = (await refused.json()) as { error: { message: string } };
  expect(error.message).toContain('The key "Team" of the organization has a budget: ');
  expect(error.message).toContain(words);
  expect([bodies, reserved]).toEqual([[], []]);
});

it.each([
  ['anthropic', '/v1/messages', { messages, max_tokens: 5, mcp_servers: [{}] }, 'mcp_servers'],
  ['anthropic', '/v1/messages', { messages, max_tokens: 5, speed: 'fast' }, 'speed'],
  [
    'anthropic',
    '/v1/messages',
    { messages, max_tokens: 5, tools: [{ type: 'web_search_20250305' }] },
    'a tool that runs',
  ],
  ['gemini', '/v1beta/models/m:generateContent', { contents: [], cached_content: 'c' }, 'cachedContent'],
  ['gemini', '/v1beta/models/m:generateContent', { contents: [], tools: [{ googleSearch: {} }] }, 'a tool that runs'],
  [
    'gemini',
    '/v1beta/models/m:generateContent',
    { contents: [], generation_config: { response_modalities: ['IMAGE'] } },
    'responseModalities',
  ],
] as const)('refuses a call of %s to %s whose cost cannot be limited', async (api, path, body, words) => {
  const { call, bodies } = await openBudgeted(complete, null, api);
  const refused = await call({ model: 'm', ...body }, path);
  expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining(words)]);
  expect(bodies).toEqual([]);
});

it('leaves out a search at the provider beside tools of the agent', async () => {
  const { call, bodies } = await openBudgeted(complete);
  const own = { type: 'function', name: 'shell', parameters: {} };
  expect((await call({ model: 'm', input: 'x', tools: [own, { type: 'web_search' }] }, '/responses')).status).toBe(200);
  expect(bodies).toMatchObject([{ tools: [own] }]);
});

it('asks for the figures of a stream, even if the agent does not want them', async () => {
  const { call, bodies, settledUse } = await openBudgeted(({ stream_options }, outgoing) => {
    stream(outgoing, { model: 'm', choices: [{ delta: { content: 'x' } }] });
    if (stream_options?.include_usage) stream(outgoing, { model: 'm', choices: [], usage: used });
    outgoing.end();
  });
  const body = { model: 'm', messages, stream: true, stream_options: { include_usage: false, other: 1 } };
  await (await call(body)).text();
  expect(bodies[0].stream_options).toEqual({ include_usage: true, other: 1 });
  expect(await settledUse()).toMatchObject({ outputTokens: 2_000, costUsd: usedUsd });
});

it('counts an answer without figures with the highest cost', async () => {
  const { call, reserved, settledUse } = await openBudgeted((_, outgoing) => outgoing.end('{"model":"m"}'));
  await (await call({ model: 'm', messages, max_tokens: 500 })).text();
  const { costUsd } = (await settledUse()) as CallUse;
  expect(costUsd).toBeCloseTo((reserved[0]?.maxInputUsd ?? 0) + (500 * 100) / 1e6);
});

it.each(['before the answer', 'in the middle of the answer'])(
  'reads the answer to its end after the agent has left %s',
  async (when) => {
    let resolveEnd: () => void = () => undefined;
    const received = new Promise<void>((resolve) => {
      resolveEnd = resolve;
    });
    let answerLater: () => void = () => undefined;
    const { call, settledUse, settled, usages } = await openBudgeted((_, outgoing) => {
      resolveEnd();
      if (when !== 'before the answer') stream(outgoing, { model: 'm', choices: [{ delta: { content: 'x' } }] });
      answerLater = () => {
        stream(outgoing, { model: 'm', choices: [], usage: used });
        outgoing.end();
      };
    });
    const controller = new AbortController();
    const answered = call({ model: 'm', messages, stream: true }, '/chat/completions', controller.signal);
    if (when === 'before the answer') await received;
    else await (await answered).body?.getReader().read();
    controller.abort();
    await answered.catch(() => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    expect(settled).toEqual([]);
    answerLater();
    expect(await settledUse()).toMatchObject({ inputTokens: 1_000, outputTokens: 2_000, costUsd: usedUsd });
    expect(usages).toMatchObject([{ outputTokens: 2_000 }]);
  },
);

it('closes at once while a call is in progress, and counts the call when its answer has ended', async () => {
  let answerLater: () => void = () => undefined;
  let resolveReceived: () => void = () => undefined;
  const received = new Promise<void>((resolve) => {
    resolveReceived = resolve;
  });
  const { gateway, call, settledUse, settled } = await openBudgeted((body, outgoing, incoming) => {
    answerLater = () => complete(body, outgoing, incoming);
    resolveReceived();
  });
  const answered = call({ model: 'm', messages }).catch(() => null);
  await received;
  await gateway.close();
  await answered;
  expect(settled).toEqual([]);
  answerLater();
  expect(await settledUse()).toMatchObject({ costUsd: usedUsd });
});

it('counts a call whose connection breaks with the highest cost, and one that the provider refuses not at all', async () => {
  const broken = await openBudgeted((_, outgoing) => outgoing.destroy());
  expect((await broken.call({ model: 'm', messages, max_tokens: 500 })).status).toBe(502);
  const { costUsd } = (await broken.settledUse()) as CallUse;
  expect(costUsd).toBeCloseTo((broken.reserved[0]?.maxInputUsd ?? 0) + (500 * 100) / 1e6);
  const refusing = await openBudgeted((_, outgoing) => outgoing.writeHead(500).end('{}'));
  expect((await refusing.call({ model: 'm', messages })).status).toBe(500);
  expect(await refusing.settledUse()).toBeNull();
});

it('estimates the cost of a call when the process stops', async () => {
  const { call, stopping, settledUse } = await openBudgeted((_, outgoing) => {
    stream(outgoing, { model: 'm', choices: [{ delta: { content: 'x' } }] });
  });
  const answered = await call({ model: 'm', messages, stream: true });
  await answered.body?.getReader().read();
  stopping.abort();
  const { costUsd } = (await settledUse()) as CallUse;
  expect(costUsd).toBeGreaterThan(0);
  expect(costUsd).toBeLessThan(0.01);
});

it.each([
  ['/chat/completions', { messages, max_tokens: 50_000 }, { max_tokens: 2_000 }],
  ['/chat/completions', { messages }, { max_tokens: 2_000 }],
  ['/chat/completions', { messages, max_tokens: 50_000, n: 2 }, { max_tokens: 1_024 }],
  ['/responses', { input: 'x' }, { max_output_tokens: 2_000 }],
  ['/chat/completions', { messages, max_tokens: 100 }, { max_tokens: 100 }],
])('limits the output of a call to what is left: %s %j', async (path, body, expected) => {
  const { call, bodies } = await openBudgeted(complete, (2_000 * 100.000_001) / 1e6);
  expect((await call({ model: 'm', ...body }, path)).status).toBe(200);
  expect(bodies).toMatchObject([expected]);
});

it.each([
  'not JSON',
  '[]',
  `{"model":"m","messages":${'['.repeat(200_000)}${']'.repeat(200_000)}}`,
  `{"a":[${'0,'.repeat(1_000_001)}0]}`,
])('refuses a body that it cannot read (%#)', async (body) => {
  const { call, bodies } = await openBudgeted(complete);
  const refused = await call(body);
  expect([403, 413]).toContain(refused.status);
  expect(bodies).toEqual([]);
});

it('reserves a file and a picture by what they are, not by their size', async () => {
  const { call, reserved } = await openBudgeted(complete);
  const url = `data:image/png;base64,${'A'.repeat(1_000_000)}`;
  const parts = [
    { type: 'image_url', image_url: { url } },
    { type: 'file', file: { file_id: 'f' } },
  ];
  expect((await call({ model: 'm', messages: [{ role: 'user', content: parts }], max_tokens: 1 })).status).toBe(200);
  const tokens = ((reserved[0]?.maxInputUsd ?? 0) * 1e6) / 10;
  expect(tokens).toBeGreaterThan(55_000);
  expect(tokens).toBeLessThan(56_000);
});

it('sends each member of a body once', async () => {
  const { call, bodies } = await openBudgeted(complete);
  expect((await call('{"model":"m","max_tokens":1,"max_tokens":7}')).status).toBe(200);
  expect(bodies).toEqual([{ model: 'm', max_tokens: 7 }]);
});
