import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { parseUrl } from '../../common/parse-url.ts';
import { createPace } from '../acp/pace.ts';
import { createConnectionAgents } from '../gateway/connection-agents.ts';
import type { Connections } from '../gateway/connections.ts';
import { type Framing, framingOf } from '../gateway/framing.ts';
import type { MaskOf } from '../gateway/key-mask.ts';
import { type AgentHandler, listenForAgent } from '../gateway/listen.ts';
import { isSameKey } from '../gateway/same-key.ts';
import { createActionSeal } from './action-seal.ts';
import type { GitExchange, GitGatewayLimits, GitGatewayParts } from './exchange.ts';
import { passAdvertisement, passFetch } from './fetch-exchange.ts';
import { findRepository } from './find-repository.ts';
import { passLfsBatch } from './lfs-batch.ts';
import { passLfsAction } from './lfs-object.ts';
import { passPush } from './push-exchange.ts';
import { RefusedError, refuse, refuseAndClose } from './refusals.ts';
import type { AddressRules, RepositoryAccess } from './repositories.ts';
import { type GitRoute, type GitTarget, targetOf } from './routes.ts';

/**
 * Connects the git of one run to the forges of its session: adds their credentials, which the agent never gets, and
 * applies the rules for pushes.
 */
export interface GitGateway {
  /** The key of this run, valid at this gateway only. */
  readonly key: string;
  /** The loopback port; null: it listens on a socket. */
  readonly port: number | null;
  /** Ends all requests at once. Safe to call twice; never rejects. */
  close(): Promise<void>;
}

/** Options of {@link openGitGateway}. */
export interface GitGatewayOptions extends RepositoryAccess {
  /** The unix socket to listen on; null: a free loopback port. */
  readonly socketPath: string | null;
  readonly addresses: AddressRules;
  /** Creates masks of credentials in forges' error texts, in all encodings. If missing: only exact copies are masked. */
  readonly maskOf?: MaskOf | undefined;
  /** Overrides of the default limits. */
  readonly limits?: Partial<GitGatewayLimits> | undefined;
}

const gibibyte = 1_024 ** 3;

const defaultLimits: GitGatewayLimits = {
  maxExchanges: 16,
  maxRequestBytes: 32 * 1_048_576,
  // GitHub's own limit.
  maxPackBytes: 2 * gibibyte,
  maxFetchBytes: 16 * gibibyte,
  maxObjectBytes: 5 * gibibyte,
  maxJsonBytes: 4 * 1_048_576,
  maxCommands: 1_000,
  maxHeadBytes: 1_048_576,
  keyTimeoutMs: 5_000,
  requestTimeoutMs: 3_600_000,
  idleTimeoutMs: 120_000,
};

/** Higher than that of exchanges, so that further requests get their refusal. */
const maxConnections = 128;

/** Opens the git gateway of one run. Rejects if it cannot listen. */
export async function openGitGateway(options: GitGatewayOptions): Promise<GitGateway> {
  const limits = { ...defaultLimits, ...options.limits };
  const { requestTimeoutMs, keyTimeoutMs } = limits;
  const key = `git-switchyard-${randomBytes(24).toString('hex')}`;
  const { socketPath } = options;
  const handler = createHandler(key, limits, options);
  const server = await listenForAgent(handler, { socketPath, maxConnections, requestTimeoutMs, keyTimeoutMs });
  return { key, port: server.port, close: server.close };
}

function createHandler(key: string, limits: GitGatewayLimits, options: GitGatewayOptions): AgentHandler {
  const connections = createConnectionAgents();
  const parts: GitGatewayParts = {
    access: options,
    upstream: { addresses: options.addresses, connections, idleTimeoutMs: limits.idleTimeoutMs },
    limits,
    pace: createPace(),
    seal: createActionSeal(),
    moved: new Map(),
    maskOf: options.maskOf,
  };
  /** The requests in progress, with their connections and ends. */
  const exchanges = new Map<AbortController, { readonly connection: Duplex; readonly done: Promise<void> }>();
  let isClosed = false;

  const start = (incoming: IncomingMessage, outgoing: ServerResponse, clients: Connections): GitRoute | null => {
    const framing = framingFor(incoming);
    if (framing.type === 'invalid') throw new RefusedError(framing.reason, 400);
    const { host = '', expect } = incoming.headers;
    // The addresses of LFS objects contain it.
    if (!/^[a-z0-9.[\]:-]{1,255}$/i.test(host)) throw new RefusedError('The request needs a valid header "Host".', 400);
    if (expect !== undefined && !/^100-continue$/i.test(expect))
      throw new RefusedError('The header "Expect" may only be "100-continue".', 417);
    const url = incoming.url?.startsWith('/') ? parseUrl(`http://gateway${incoming.url}`) : null;
    if (url === null) throw new RefusedError('The target of the request must be a path.', 400);
    if (!keysOf(incoming).some((each) => isSameKey(each, key))) {
      outgoing.setHeader('www-authenticate', 'Basic realm="Switchyard"');
      throw new RefusedError('The git gateway expected the key that the agent was given.', 401);
    }
    clients.trust(incoming.socket);
    const target = targetOf(incoming.method ?? '', url);
    if (target === null) throw new RefusedError('The git gateway passes on smart HTTP and LFS only.', 403);
    const { route } = target;
    if (exchanges.size >= limits.maxExchanges) {
      const sentence = `The session has ${limits.maxExchanges} pending git requests, which is the maximum. Try again when one has ended.`;
      refuseAndClose(outgoing, route, new RefusedError(sentence, 429));
      return route;
    }
    if (expect !== undefined && incoming.httpVersion === '1.1') outgoing.writeContinue();
    const abort = new AbortController();
    const done = run(parts, target, { incoming, outgoing, framing, signal: abort.signal });
    exchanges.set(abort, { connection: incoming.socket, done });
    outgoing.once('close', () => abort.abort());
    void done.then(() => exchanges.delete(abort));
    return route;
  };

  return {
    take(incoming, outgoing, clients) {
      incoming.on('error', () => undefined);
      outgoing.on('error', () => undefined);
      if (isClosed) return void incoming.destroy();
      // Its last response has been decided: nothing after it is read.
      if (clients.isStopped(incoming.socket)) return;
      try {
        start(incoming, outgoing, clients);
      } catch (error) {
        refuseAndClose(outgoing, null, refusalOf(error));
      }
      if (outgoing.getHeader('connection') === 'close') clients.stop(incoming.socket);
    },
    leave(connection) {
      for (const [abort, exchange] of exchanges) if (exchange.connection === connection) abort.abort();
    },
    async close() {
      isClosed = true;
      const open = [...exchanges];
      for (const [abort, { connection }] of open) {
        abort.abort();
        connection.destroy();
      }
      await Promise.all(open.map(([, { done }]) => done));
      connections.destroy();
    },
  };
}

// Never rejects.
async function run(parts: GitGatewayParts, target: GitTarget, request: Omit<GitExchange, 'repository'>): Promise<void> {
  const { incoming, outgoing } = request;
  try {
    const repository = await findRepository(parts.access, target);
    await pass(parts, { ...request, repository }, target.route);
  } catch (error) {
    if (outgoing.headersSent || outgoing.destroyed) return void outgoing.destroy();
    // The rest of a body that nobody reads would hold up the connection.
    if (incoming.complete) refuse(outgoing, target.route, refusalOf(error));
    else refuseAndClose(outgoing, target.route, refusalOf(error));
  }
}

function pass(parts: GitGatewayParts, exchange: GitExchange, route: GitRoute): Promise<void> {
  switch (route.type) {
    case 'advertisement':
      return passAdvertisement(parts, exchange, route.service);
    case 'service':
      return route.service === 'upload-pack' ? passFetch(parts, exchange) : passPush(parts, exchange);
    case 'lfs-batch':
      return passLfsBatch(parts, exchange);
    case 'lfs-action':
      return passLfsAction(parts, exchange, route.token);
    case 'lfs-other':
      return Promise.reject(new RefusedError('The git gateway passes on objects of LFS only.', 404));
  }
}

// Other errors may quote secrets: they are not shown.
function refusalOf(error: unknown): RefusedError {
  return error instanceof RefusedError ? error : new RefusedError('The request cannot be forwarded.', 400);
}

// Uploads of LFS have a body too.
function framingFor({ method = '', rawHeaders, httpVersion }: IncomingMessage): Framing {
  return framingOf({ method: method === 'PUT' ? 'POST' : method, rawHeaders, httpVersion });
}

/** Reads the keys of a request: a bearer token, or the password of basic authentication with any name. */
function keysOf({ headers: { authorization = '' } }: IncomingMessage): string[] {
  const [, scheme = '', value = ''] = /^(basic|bearer) ([\w.~+/=-]{1,1000})$/i.exec(authorization) ?? [];
  if (value === '') return [];
  if (scheme.toLowerCase() === 'bearer') return [value];
  const text = Buffer.from(value, 'base64').toString('utf8');
  return [text.slice(text.indexOf(':') + 1)];
}
