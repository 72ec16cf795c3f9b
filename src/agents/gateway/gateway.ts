import { randomBytes, timingSafeEqual } from 'node:crypto';
import { rm } from 'node:fs/promises';
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as requestHttp,
  type Server,
  type ServerResponse,
} from 'node:http';
import { request as requestHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { AgentUpdate, ProviderSettings } from '../agent.ts';
import { headersPassedOn, queryPassedOn } from './passed-on.ts';
import { keysOf, kindOfRequest, providerApis } from './providers.ts';
import { readTools, type ShownTool } from './tool-reader.ts';
import { createUsageReader } from './usage-reader.ts';

/** The way of one agent to its model: it adds the provider's key, which the agent never has, and counts. */
export interface Gateway {
  /** A key of this run alone, which the gateway takes and nobody else. */
  readonly key: string;
  /** The port on the loopback; null: it listens on a socket. */
  readonly port: number | null;
  /** Ends every call. Safe to call twice; never rejects. */
  close(): Promise<void>;
}

/** What {@link openGateway} needs. */
export interface GatewayOptions {
  readonly provider: ProviderSettings & { readonly gateway: NonNullable<ProviderSettings['gateway']> };
  /** The unix socket to listen on; null: a free port of the loopback. */
  readonly socketPath: string | null;
  /** Given once for each call of the model, at its end. */
  onUsage(usage: Extract<AgentUpdate, { type: 'usage' }>): void;
  /** Given for each call of the model which tools it is shown. Left out: nobody looks. */
  readonly onTools?: ((tools: readonly ShownTool[]) => void) | undefined;
}

/** The most of a refusal that is looked through for the key. */
const mostErrorBytes = 1_048_576;

/** Headers that belong to one connection, not to what is sent over it (RFC 9110, 7.6.1). */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Opens the gateway of one run. Rejects when it cannot listen. */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const key = `sk-switchyard-${randomBytes(24).toString('hex')}`;
  const ending = new AbortController();
  const server = createServer((incoming, outgoing) => answer(options, key, incoming, outgoing, ending.signal));
  await listen(server, options.socketPath);
  const address = server.address();
  let closed: Promise<void> | null = null;
  const close = async () => {
    ending.abort();
    const ended = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await ended;
    if (options.socketPath !== null) await rm(options.socketPath, { force: true }).catch(() => undefined);
  };
  return {
    key,
    port: typeof address === 'string' ? null : ((address as AddressInfo | null)?.port ?? null),
    close() {
      closed ??= close();
      return closed;
    },
  };
}

function listen(server: Server, socketPath: string | null): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    if (socketPath === null) server.listen(0, '127.0.0.1', resolve);
    else server.listen(socketPath, resolve);
  });
}

function answer(
  options: GatewayOptions,
  key: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  signal: AbortSignal,
): void {
  incoming.on('error', () => undefined);
  outgoing.on('error', () => undefined);
  // URL resolves dots, so that no path leads above the provider's own address.
  const given = new URL(`http://gateway${incoming.url?.startsWith('/') ? incoming.url : '/'}`);
  const kind = kindOfRequest(options.provider.gateway.api, incoming.method ?? '', given.pathname);
  // Programs look whether anybody is there before they have a key to show.
  if (incoming.method === 'HEAD') refuse(outgoing, 200, '');
  else if (!keysOf(incoming.headers, given.searchParams).some((each) => isSame(each, key)))
    refuse(outgoing, 401, 'The gateway expected the key that the agent was given.');
  else if (kind === null)
    refuse(
      outgoing,
      403,
      `The gateway passes on calls of a model only; ${incoming.method} ${given.pathname} is none of them.`,
    );
  else pass(options, given, kind === 'call', incoming, outgoing, signal);
}

function pass(
  { provider, onUsage, onTools }: GatewayOptions,
  given: URL,
  isCall: boolean,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  signal: AbortSignal,
): void {
  const { api, baseUrl } = provider.gateway;
  const target = new URL(baseUrl + given.pathname + queryPassedOn(given.searchParams));
  const send = target.protocol === 'https:' ? requestHttps : requestHttp;
  const passed = send(target, { method: incoming.method, headers: headersFor(incoming, provider), signal });
  passed.on('error', () => {
    // Without Node's own words: they may quote what was sent.
    if (outgoing.headersSent) outgoing.destroy();
    else refuse(outgoing, 502, `The provider at ${target.origin} could not be reached.`);
  });
  outgoing.on('close', () => passed.destroy());
  passed.on('response', (response) => {
    const status = response.statusCode ?? 502;
    if (status >= 400) {
      void passError(response, outgoing, status, provider.key);
      return;
    }
    const isStream = /event-stream/.test(response.headers['content-type'] ?? '');
    const reader = createUsageReader(isStream, providerApis[api].readUsage);
    outgoing.writeHead(status, headersBack(response));
    response.on('data', (chunk: Buffer) => reader.take(chunk));
    response.on('error', () => outgoing.destroy());
    // Also when the agent hung up in the middle: what was used is used.
    response.once('close', () => {
      if (!response.complete) outgoing.destroy();
      if (isCall) onUsage(usageOf(reader.total()));
    });
    response.pipe(outgoing);
  });
  if (isCall && onTools) readTools(incoming, onTools);
  incoming.pipe(passed);
}

function usageOf(call: ReturnType<ReturnType<typeof createUsageReader>['total']>) {
  const { inputTokens, outputTokens } = call;
  const totalTokens = inputTokens === null || outputTokens === null ? null : inputTokens + outputTokens;
  return {
    type: 'usage',
    source: 'gateway',
    llmCalls: 1,
    ...call,
    totalTokens,
    costUsd: null,
    contextUsed: null,
    contextSize: null,
  } as const;
}

function headersFor(incoming: IncomingMessage, provider: GatewayOptions['provider']): OutgoingHttpHeaders {
  const { key, gateway } = provider;
  return {
    ...headersPassedOn(incoming.headers),
    // In the clear, so that it can be read along.
    'accept-encoding': 'identity',
    ...(key === null ? {} : providerApis[gateway.api].keyHeader(key)),
  };
}

function headersBack(response: IncomingMessage): OutgoingHttpHeaders {
  return Object.fromEntries(
    Object.entries(response.headers).filter(([name]) => !hopByHop.has(name) && name !== 'set-cookie'),
  );
}

// Providers quote in a refusal what they refuse, the key too.
async function passError(
  response: IncomingMessage,
  outgoing: ServerResponse,
  status: number,
  key: string | null,
): Promise<void> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > mostErrorBytes) break;
      chunks.push(chunk);
    }
  } catch {
    // What had come by then is passed on.
  }
  const text = Buffer.concat(chunks).toString('utf8');
  const { 'content-length': _, ...headers } = headersBack(response);
  outgoing.writeHead(status, headers);
  outgoing.end(key === null || key === '' ? text : text.replaceAll(key, '********'));
}

// In the form that the programs of all three makers read.
function refuse(outgoing: ServerResponse, status: number, message: string): void {
  outgoing.writeHead(status, { 'content-type': 'application/json' });
  outgoing.end(message === '' ? '' : JSON.stringify({ error: { message, type: 'gateway', code: status } }));
}

function isSame(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}
