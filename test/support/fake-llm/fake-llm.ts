import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { type Dialect, dialects, piecesOf, type Tokens } from './dialects.ts';
import { type Limit, refusalOf } from './limits.ts';
import { type Conversation, replyTo } from './script.ts';

/** One call that the fake model answered or refused. */
export interface LlmCall extends Tokens {
  readonly dialect: Dialect['name'];
  readonly key: string | null;
  readonly status: number;
  readonly conversation: Conversation;
}

/** A model on loopback that follows the commands in the user's messages, see {@link replyTo}. */
export interface FakeLlm {
  /** The URL without a path. */
  readonly url: string;
  readonly calls: readonly LlmCall[];
  /** Resolves once an answer waits under this name, before or in the middle of its text. */
  waitForHold(name: string): Promise<void>;
  /** Releases all answers under this name, including later ones. */
  release(name: string): void;
  /** Sets the limit with which it refuses the calls that offer tools; null: none. */
  setLimit(limit: Limit | null): void;
  /** Accepts another key, or refuses a key with this status from now on. */
  setKey(key: string, status?: 200 | 401 | 402): void;
  close(): Promise<void>;
}

/** Options of {@link startFakeLlm}. */
interface FakeLlmOptions {
  /** Any other key gets 401, as with providers. */
  readonly apiKey: string;
  /** The models that it lists. */
  readonly models?: readonly string[];
  /** Changes the body of each answer that is not streamed. */
  readonly change?: (body: any, key: string | null) => unknown;
}

/** Starts a fake model. */
export async function startFakeLlm({ apiKey, models = ['m'], change }: FakeLlmOptions): Promise<FakeLlm> {
  const calls: LlmCall[] = [];
  const keys = new Map<string | null, number>([[apiKey, 200]]);
  const holds = createHolds();
  let limit: Limit | null = null;
  const server = createServer((request, response) => {
    answer(request, response, { keys, models, change, holds, calls, limit: () => limit }).catch((error: unknown) => {
      // Agents do not retry after a 400, and report its message.
      if (!response.headersSent)
        send(response, 400, { error: { message: String(error), type: 'invalid_request_error' } });
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    waitForHold: (name) => holds.of(name).reached.promise,
    release: (name) => holds.of(name).released.resolve(),
    setLimit(next) {
      limit = next;
    },
    setKey: (key, status = 200) => void keys.set(key, status),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface State {
  readonly change: FakeLlmOptions['change'] | undefined;
  /** The status of the answers to each key. */
  readonly keys: ReadonlyMap<string | null, number>;
  readonly models: readonly string[];
  readonly holds: ReturnType<typeof createHolds>;
  readonly calls: LlmCall[];
  readonly limit: () => Limit | null;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { keys, models, change, holds, calls, limit }: State,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://localhost');
  if (request.method === 'GET' && url.pathname.endsWith('/models'))
    return send(response, 200, { data: models.map((id) => ({ id, object: 'model' })) });
  // Some agents try a WebSocket first.
  if (request.method !== 'POST') return void response.writeHead(405).end();
  const dialect = dialects.find(({ isMine }) => isMine(url.pathname));
  if (!dialect) return send(response, 404, { error: { message: `The fake model has no ${url.pathname}.` } });
  const body = await json(request);
  const conversation = dialect.parse(body, url.pathname);
  const key = dialect.readKey(new Headers(request.headers as Record<string, string>), url);
  const record = (status: number, tokens: Tokens) =>
    calls.push({ dialect: dialect.name, key, status, conversation, ...tokens });
  const keyStatus = keys.get(key) ?? 401;
  if (keyStatus !== 200) {
    record(keyStatus, { input: 0, output: 0 });
    const isEmpty = keyStatus === 402;
    return send(response, keyStatus, {
      error: {
        code: keyStatus,
        status: isEmpty ? 'FAILED_PRECONDITION' : 'UNAUTHENTICATED',
        type: isEmpty ? 'insufficient_quota' : 'authentication_error',
        message: isEmpty ? 'Insufficient credits.' : 'Incorrect API key provided.',
      },
    });
  }
  const current = conversation.tools.length > 0 ? limit() : null;
  if (current !== null) {
    record(429, { input: 0, output: 0 });
    const { headers, body: refusal } = refusalOf(dialect.name, current);
    return send(response, 429, refusal, headers);
  }
  const changed = change ?? ((complete: unknown) => complete);
  const reply = replyTo(conversation);
  if (reply.hold !== null) await holds.wait(reply.hold);
  const tokens = { input: tokensOf(JSON.stringify(body)), output: tokensOf(JSON.stringify(reply)) };
  record(200, tokens);
  if (!dialect.isStreamed(body, url.pathname))
    return send(response, 200, changed(dialect.complete(reply, tokens, conversation.model), key));
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const events = dialect.stream(reply, tokens, conversation.model);
  const pauseAt = reply.pause === null ? -1 : middleOf(reply.text, events);
  for (const [n, { event, data }] of events.entries()) {
    if (n === pauseAt && reply.pause !== null) await holds.wait(reply.pause);
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    response.write(`${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`);
    if (reply.paceMs > 0) await wait(reply.paceMs);
  }
  response.end();
}

// Each piece of the text is one event.
function middleOf(text: string, events: ReturnType<Dialect['stream']>): number {
  const pieces = piecesOf(text);
  const first = events.findIndex(({ data }) => JSON.stringify(data).includes(JSON.stringify(pieces[0])));
  return first + Math.ceil(pieces.length / 2);
}

const tokensOf = (text: string) => Math.ceil(text.length / 4);

function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

function createHolds() {
  const holds = new Map<string, { reached: Signal; released: Signal }>();
  const of = (name: string) => {
    const hold = holds.get(name) ?? { reached: createSignal(), released: createSignal() };
    holds.set(name, hold);
    return hold;
  };
  return {
    of,
    wait(name: string): Promise<void> {
      of(name).reached.resolve();
      return of(name).released.promise;
    },
  };
}

type Signal = ReturnType<typeof createSignal>;

function createSignal() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
