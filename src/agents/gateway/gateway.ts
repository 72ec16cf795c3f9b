import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { parseUrl } from '../../common/parse-url.ts';
import { createPace } from '../acp/pace.ts';
import type { AgentUpdate } from '../agent.ts';
import { type AskCredential, type CredentialRefusal, isRefusal, type ProviderCredential } from '../credential.ts';
import type { ProviderGateway } from '../provider.ts';
import { createQuotaMonitor, type QuotaMonitor } from '../quota/quota-monitor.ts';
import { startBudgetedExchange } from './budget/budgeted-exchange.ts';
import { createConnectionAgents } from './connection-agents.ts';
import type { Connections } from './connections.ts';
import { type Exchange, type GatewayParts, refuseAddress, startExchange, tooLarge } from './exchange.ts';
import { createFailureMonitor, type FailureMonitor } from './failure-monitor.ts';
import { forwardedQuery } from './forwarded-request.ts';
import { framingOf } from './framing.ts';
import { createKeyMask, type MaskOf } from './key-mask.ts';
import { type AgentHandler, listenForAgent } from './listen.ts';
import { createErrorMask } from './provider-errors.ts';
import { keysOf, kindOfRequest } from './providers.ts';
import { closeAfter, refuse } from './refusals.ts';
import { isSameKey } from './same-key.ts';
import { createToolReader, type ShownTool, type ToolReader } from './tool-reader.ts';

/**
 * Connects one agent to its model provider: it adds the provider's key, which the agent never gets, and counts usage.
 */
export interface Gateway {
  /** The key of this run, valid at this gateway only. */
  readonly key: string;
  /** The loopback port; null: it listens on a socket. */
  readonly port: number | null;
  /** The provider's refusals because of a limit. */
  readonly quota: QuotaMonitor;
  /** The failures that every further call would have. */
  readonly failures: FailureMonitor;
  /** Ends every call at once, and resolves when their usage has been reported. Safe to call twice; never rejects. */
  close(): Promise<void>;
}

/** Limits of one gateway. */
export interface GatewayLimits {
  /** The maximum size of a request's body; a larger one is refused with 413. */
  readonly maxBodyBytes: number;
  /** The maximum number of concurrent requests to the provider; further ones are refused with 429. */
  readonly maxExchanges: number;
  /** The time that an agent may take to send a request. */
  readonly requestTimeoutMs: number;
  /** The time that a new connection may take to show the gateway's key, and each request to send its headers. */
  readonly keyTimeoutMs: number;
}

/** Options of {@link openGateway}. */
export interface GatewayOptions {
  readonly api: ProviderGateway['api'];
  /** Called for each request that is passed on. */
  readonly credential: AskCredential;
  /** The unix socket to listen on; null: a free loopback port. */
  readonly socketPath: string | null;
  /** Called at the end of each model call. */
  onUsage(usage: Extract<AgentUpdate, { type: 'usage' }>): void;
  /** Called after each model call with its failure, or null if it succeeded. Other errors are not reported. Must not throw. */
  readonly onOutcome?: GatewayParts['onOutcome'] | undefined;
  /** Called for each model call with the tools that it offers. If missing, tools are not read. */
  readonly onTools?: ((tools: readonly ShownTool[]) => void) | undefined;
  /** Starts the span of a model call. If missing: none is recorded. */
  readonly startSpan?: GatewayParts['startSpan'];
  /** Creates masks of the provider's keys, in all encodings. If missing: only the exact keys are masked. */
  readonly maskOf?: MaskOf | undefined;
  /** Overrides of the default limits. */
  readonly limits?: Partial<GatewayLimits> | undefined;
}

/** Higher than any provider's limit: Anthropic accepts 32 MB. */
const defaultLimits: GatewayLimits = {
  maxBodyBytes: 64 * 1_048_576,
  maxExchanges: 16,
  requestTimeoutMs: 300_000,
  keyTimeoutMs: 5_000,
};

/**
 * The maximum number of an agent's connections: higher than that of its exchanges, so that further requests get their
 * refusal.
 */
const maxConnections = 128;

/** Opens the gateway of one run. Rejects if it cannot listen. */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const handler = createHandler(options);
  const { key, quota, failures, limits } = handler;
  const { requestTimeoutMs, keyTimeoutMs } = limits;
  const { socketPath } = options;
  const server = await listenForAgent(handler, { socketPath, maxConnections, requestTimeoutMs, keyTimeoutMs });
  return { key, quota, failures, port: server.port, close: server.close };
}

interface Handler extends AgentHandler {
  readonly key: string;
  readonly quota: QuotaMonitor;
  readonly failures: FailureMonitor;
  readonly limits: GatewayLimits;
}

function createHandler({ api, credential: ask, onUsage, onTools, ...options }: GatewayOptions): Handler {
  const key = `sk-switchyard-${randomBytes(24).toString('hex')}`;
  const limits = { ...defaultLimits, ...options.limits };
  const connections = createConnectionAgents();
  const keys = createKeyMask(options.maskOf);
  const pace = createPace();
  const maskError = createErrorMask(keys.mask, pace);
  const { maxBodyBytes } = limits;
  const quota = createQuotaMonitor();
  const failures = createFailureMonitor();
  const onOutcome = options.onOutcome ?? (() => undefined);
  const parts: GatewayParts = {
    api,
    connections,
    maxBodyBytes,
    held: { bytes: 0 },
    keys,
    maskError,
    pace,
    quota,
    failures,
    onOutcome,
    onUsage,
    startSpan: options.startSpan,
  };
  const tools: ToolReader | null = onTools ? createToolReader(onTools) : null;
  const exchanges = new Map<Exchange, Duplex>();
  let isClosed = false;

  const answer = (incoming: IncomingMessage, outgoing: ServerResponse, clients: Connections) => {
    const method = incoming.method ?? '';
    const framing = framingOf(incoming);
    if (framing.type === 'invalid') return refuse(outgoing, api, 400, framing.reason);
    const { host, expect } = incoming.headers;
    if (incoming.httpVersion === '1.1' && host === undefined)
      return refuse(outgoing, api, 400, 'The request needs the header "Host".');
    if (expect !== undefined && !/^100-continue$/i.test(expect))
      return refuse(outgoing, api, 417, 'The header "Expect" may only be "100-continue".');
    const requestUrl = urlOf(incoming.url ?? '');
    if (requestUrl === null) return refuse(outgoing, api, 400, 'The target of the request must be a path.');
    // Programs check if the server is reachable before they send a key.
    if (method === 'HEAD') {
      closeAfter(outgoing);
      return void outgoing.writeHead(200).end();
    }
    if (!keysOf(incoming.headers, requestUrl.searchParams).some((each) => isSameKey(each, key)))
      return refuse(outgoing, api, 401, 'The gateway expected the key that the agent was given.');
    clients.trust(incoming.socket);
    const kind = kindOfRequest(api, method, requestUrl.pathname);
    if (kind === null) {
      const sentence = `The gateway only forwards model calls; ${method} ${requestUrl.pathname} is not one.`;
      return refuse(outgoing, api, 403, sentence);
    }
    if (framing.type === 'length' && framing.bytes > limits.maxBodyBytes)
      return refuse(outgoing, api, 413, tooLarge(limits.maxBodyBytes));
    if (exchanges.size >= limits.maxExchanges) {
      const sentence = `The agent has ${limits.maxExchanges} pending calls, which is the maximum. Retry when one has ended.`;
      return refuse(outgoing, api, 429, sentence);
    }
    if (expect !== undefined && incoming.httpVersion === '1.1') outgoing.writeContinue();
    const isCall = kind === 'call';
    const start = (found: ProviderCredential | CredentialRefusal) => {
      if (isRefusal(found)) {
        const { refused: code, message } = found;
        if (isCall && (code === 'KEY_MISSING' || code === 'KEY_CHANGED')) failures.failed({ code, message }, null);
        refuse(outgoing, api, code === 'UNAVAILABLE' ? 502 : 403, message);
        return null;
      }
      // The provider has refused this key a moment ago: agents repeat such calls for minutes.
      const failure = isCall ? failures.find(found) : null;
      if (failure !== null) {
        refuse(outgoing, api, 403, failure.message);
        return null;
      }
      const target = targetOf(found.baseUrl, requestUrl);
      if (refuseAddress(parts, found, { target, outgoing, isCall })) return null;
      if (isCall) tools?.read(incoming);
      const request = { incoming, outgoing, target, framing, isCall, budgeted: null };
      const { budget } = found;
      return isCall && budget !== null
        ? startBudgetedExchange(parts, found, budget, request)
        : startExchange(parts, found, request);
    };
    const found = ask();
    const exchange = found instanceof Promise ? startLater(found, start, outgoing, api) : start(found);
    if (exchange === null) return;
    exchanges.set(exchange, incoming.socket);
    void exchange.done.then(() => exchanges.delete(exchange));
  };

  return {
    key,
    quota,
    failures,
    limits,
    take(incoming, outgoing, clients) {
      incoming.on('error', () => undefined);
      outgoing.on('error', () => undefined);
      if (isClosed) return void incoming.destroy();
      // Its last response has been decided: nothing after it is read.
      if (clients.isStopped(incoming.socket)) return;
      try {
        answer(incoming, outgoing, clients);
      } catch {
        // A header or a target that Node refuses to send: an error here would end the worker.
        if (outgoing.headersSent) outgoing.destroy();
        else refuse(outgoing, api, 400, cannotPassOn);
      }
      if (outgoing.getHeader('connection') === 'close') clients.stop(incoming.socket);
    },
    leave(connection) {
      for (const [exchange, clientConnection] of exchanges) if (clientConnection === connection) exchange.cut();
    },
    async close() {
      isClosed = true;
      const open = [...exchanges.keys()];
      for (const exchange of open) exchange.close();
      await Promise.all(open.map(({ done }) => done));
      connections.destroy();
    },
  };
}

// URL resolves dot segments, so no path leads above the provider's base URL.
function urlOf(target: string): URL | null {
  return target.startsWith('/') ? parseUrl(`http://gateway${target}`) : null;
}

// The base URL may have a path, but nothing after it that would swallow the path of the call.
function targetOf(baseUrl: string, { pathname, searchParams }: URL): URL {
  const target = new URL(baseUrl);
  target.hash = '';
  target.search = forwardedQuery(searchParams);
  target.pathname = target.pathname.replace(/\/+$/, '') + pathname;
  return target;
}

// The request is not read before the credential is known. A cut meanwhile ends it.
function startLater(
  credential: Promise<ProviderCredential | CredentialRefusal>,
  start: (found: ProviderCredential | CredentialRefusal) => Exchange | null,
  outgoing: ServerResponse,
  api: ProviderGateway['api'],
): Exchange {
  let exchange: Exchange | null = null;
  let isCut = false;
  const run = async () => {
    const found = await credential;
    if (isCut || outgoing.destroyed) return;
    try {
      exchange = start(found);
    } catch {
      refuse(outgoing, api, 400, cannotPassOn);
    }
    await exchange?.done;
  };
  return {
    done: run().catch(() => void outgoing.destroy()),
    cut() {
      isCut = true;
      exchange?.cut();
    },
    close() {
      isCut = true;
      exchange?.close();
    },
  };
}

const cannotPassOn = 'The request cannot be forwarded.';
