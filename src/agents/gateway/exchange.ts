import { type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp, type ServerResponse } from 'node:http';
import { request as requestHttps } from 'node:https';
import { checkedLookup, isAllowedAddress, literalAddress, RefusedAddressError } from '../../common/addresses.ts';
import type { StartSpan } from '../../common/trace-span.ts';
import type { Pace } from '../acp/pace.ts';
import type { AgentUpdate } from '../agent.ts';
import type { ProviderCredential } from '../credential.ts';
import type { ProviderFailure, ProviderGateway } from '../provider.ts';
import type { QuotaMonitor } from '../quota/quota-monitor.ts';
import { readRefusal } from '../quota/reset-time.ts';
import { describeFailure, readCallFailure, readConnectionFailure } from './call-failures.ts';
import { type BudgetMeter, type CallMeter, createCallMeter } from './call-meter.ts';
import { startCallSpan } from './call-span.ts';
import { createChunkCoalescer } from './chunk-coalescer.ts';
import type { ConnectionAgents } from './connection-agents.ts';
import type { FailureMonitor } from './failure-monitor.ts';
import { forwardedHeaders } from './forwarded-request.ts';
import { type Framing, framingHeaders } from './framing.ts';
import type { KeyMask } from './key-mask.ts';
import { type ErrorMask, forwardError } from './provider-errors.ts';
import { modelInPath, providerApis } from './providers.ts';
import { refuse } from './refusals.ts';
import { responseHeaders } from './response-headers.ts';
import { createUsageReader, type UsageReader } from './usage-reader.ts';

/** The parts of a gateway that all its exchanges share. */
export interface GatewayParts {
  readonly api: ProviderGateway['api'];
  /** Opens the connections to the provider, one for each exchange. */
  readonly connections: ConnectionAgents;
  readonly maxBodyBytes: number;
  /** The bodies that are held for calls with a budget. */
  readonly held: { bytes: number };
  /** Masks the keys of all exchanges so far. */
  readonly keys: KeyMask;
  /** Replaces the keys in an error, one error at a time. */
  readonly maskError: ErrorMask;
  /** Counts the work of all exchanges of the gateway. */
  readonly pace: Pace;
  /** Remembers refusals because of a limit. */
  readonly quota: QuotaMonitor;
  /** Remembers failures that every further call would have. */
  readonly failures: FailureMonitor;
  /** See GatewayOptions. */
  onOutcome(credential: ProviderCredential, failure: ProviderFailure | null): void;
  /** Starts the span of a call of a model. If missing: none is recorded. */
  readonly startSpan: StartSpan | undefined;
  /** Called once for each call of a model, at its end. */
  onUsage(usage: Extract<AgentUpdate, { type: 'usage' }>): void;
}

/** A request that the gateway has accepted. */
export interface AcceptedRequest {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly target: URL;
  readonly framing: Exclude<Framing, { type: 'invalid' }>;
  /** True if it is a call of a model, whose usage counts. */
  readonly isCall: boolean;
  /** A call with a key that has a budget, whose body has been read; null: the body is passed on as it comes. */
  readonly budgeted: { readonly body: Buffer; readonly meter: BudgetMeter; readonly stopped: AbortSignal } | null;
}

/** A request in the gateway. */
export interface Exchange {
  /** Resolves when its connection to the provider is closed and its usage is counted. Never rejects. */
  readonly done: Promise<void>;
  /**
   * The agent has left: ends it at once, and the usage so far counts. A call with a budget is read to its end, because its usage
   * comes last.
   */
  cut(): void;
  /** The gateway closes: as {@link Exchange.cut}, but `done` does not wait for a call with a budget. */
  close(): void;
}

/** The time in which the answer of a call is read after its agent has left. */
const drainMs = 10 * 60_000;
/** The longest time of a call with a budget, until its agent is disconnected. */
const maxCallMs = 60 * 60_000;

/** Sends an accepted request to the provider over its own connection, and the response to the agent. */
export function startExchange(parts: GatewayParts, credential: ProviderCredential, request: AcceptedRequest): Exchange {
  const { incoming, outgoing, target, framing, isCall, budgeted } = request;
  const { api, connections, onUsage } = parts;
  parts.keys.add(credential.key);
  const pathModel = modelInPath(api, target.pathname);
  const meter: CallMeter =
    budgeted?.meter ?? createCallMeter({ credential, pathModel, isCompressed: isCompressed(incoming) });
  const { provider } = credential;
  const span = isCall ? startCallSpan(parts.startSpan, { host: target.host, provider, model: pathModel }) : null;
  let finish: () => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let endCall: () => void = isCall ? parts.quota.started() : () => undefined;
  const leaveQuota = () => {
    endCall();
    endCall = () => undefined;
  };
  void done.then(leaveQuota);
  const method = incoming.method ?? '';
  const send = target.protocol === 'https:' ? requestHttps : requestHttp;
  const sentFraming = budgeted === null ? framing : ({ type: 'length', bytes: budgeted.body.length } as const);
  const headers = headersFor(incoming, api, credential.key, framingHeaders(method, sentFraming));
  if (budgeted !== null) headers['content-type'] = 'application/json';
  const addresses = addressRule(credential);
  // A call with a budget may outlive its gateway, which closes its connections.
  const agent = budgeted === null ? connections.for(target) : (false as const);
  const upstreamRequest = send(target, { method, headers, agent, insecureHTTPParser: false, ...addresses });
  const body = createChunkCoalescer(parts.pace);
  let response: IncomingMessage | null = null;
  let reader: UsageReader | null = null;
  let isCut = false;
  let isRefused = false;
  let isReported = false;
  let isOver = false;
  let draining: NodeJS.Timeout | null = null;
  // An agent that does not read its answer would keep the reservation.
  const limit = budgeted === null ? null : setTimeout(() => outgoing.destroy(), maxCallMs).unref();

  const stopSending = () => {
    body.unpipe(upstreamRequest);
    // The agent's connection continues after the rest of the body.
    body.resume();
  };
  const fail = (status: 403 | 413 | 502, message: string) => {
    if (isCut || isRefused) return;
    isRefused = true;
    stopSending();
    if (response === null) refuse(outgoing, api, status, message);
    else outgoing.destroy();
    upstreamRequest.destroy();
  };
  const unreachable = (error?: unknown) => {
    if (response === null && isCall && !isCut && !isRefused) recordConnection(parts, credential, error);
    // Omits Node's message: it may quote parts of the request.
    if (response === null) fail(502, unreachableMessage(target));
  };
  const report = (isComplete: boolean) => {
    if (!isReported) {
      const usage = meter.usage(reader, isComplete);
      span?.used(usage, reader?.model() ?? null);
      onUsage(usage);
    }
    isReported = true;
    if (budgeted?.meter.settle(reader, isComplete)) recordError(parts, credential, 'PRICE_UNKNOWN');
  };
  const end = () => {
    isOver = true;
    if (limit !== null) clearTimeout(limit);
    if (draining !== null) clearTimeout(draining);
    budgeted?.stopped.removeEventListener('abort', abandon);
    span?.end();
    finish();
  };
  const destroy = () => {
    stopSending();
    upstreamRequest.destroy();
    response?.destroy();
  };
  // The process stops: the rest of the answer is not read.
  const abandon = () => {
    budgeted?.meter.estimate(reader);
    destroy();
  };
  const cut = () => {
    if (budgeted === null) {
      isCut = true;
      return destroy();
    }
    if (isCut || isOver) return;
    isCut = true;
    leaveQuota();
    draining = setTimeout(destroy, drainMs).unref();
    response?.unpipe();
    response?.resume();
  };

  upstreamRequest.on('error', unreachable);
  upstreamRequest.once('close', () => {
    if (response !== null) return;
    // No response, and not always an error: a provider may switch protocols without a request.
    unreachable();
    // The provider received the complete call, and may charge for it.
    const mayCost = isCall && upstreamRequest.writableFinished && (budgeted !== null || (isCut && !isRefused));
    if (mayCost) report(false);
    else budgeted?.meter.cancel();
    end();
  });
  upstreamRequest.once('response', (received) => {
    response = received;
    span?.answered(received.statusCode ?? 0);
    // The close event reports it too.
    received.on('error', () => undefined);
    received.on('data', (chunk: Buffer) => meter.received(chunk.length));
    reader =
      budgeted !== null && isCut ? readAlone(api, received) : forwardResponse(parts, credential, request, received);
    received.once('close', () => {
      // An incomplete response of the provider must not look complete to the agent. Chunks that are being joined go
      // first.
      if (!received.complete && reader !== null) setImmediate(() => outgoing.destroy());
      stopSending();
      upstreamRequest.destroy();
      if (isCall && reader !== null) report(received.complete);
      else budgeted?.meter.cancel();
      end();
    });
  });
  // Before the end of the exchange: the agent has disconnected, possibly in the middle of its request body.
  outgoing.once('close', cut);
  const close = () => {
    cut();
    if (budgeted === null) return;
    if (!isReported && upstreamRequest.writableFinished) onUsage(meter.usage(reader, false));
    isReported = true;
    finish();
  };
  if (budgeted !== null) {
    budgeted.stopped.addEventListener('abort', abandon, { once: true });
    if (budgeted.stopped.aborted) abandon();
    upstreamRequest.end(budgeted.body);
    return { done, cut, close };
  }
  incoming.once('close', () => {
    if (!incoming.complete) cut();
  });

  let sentBytes = 0;
  incoming.on('data', (chunk: Buffer) => {
    sentBytes += chunk.length;
    meter.sent(chunk.length);
    if (sentBytes > parts.maxBodyBytes && !upstreamRequest.destroyed) fail(413, tooLarge(parts.maxBodyBytes));
  });
  const read = isCall && meter.gate !== null ? incoming.pipe(meter.gate) : incoming;
  read.pipe(body).pipe(upstreamRequest);
  return { done, cut, close };
}

/** Tells if the body of a request is compressed. */
export function isCompressed({ headers }: IncomingMessage): boolean {
  return !['', 'identity'].includes(headers['content-encoding'] ?? '');
}

// Returns the reader of a response that no agent waits for; null for an error response.
function readAlone(api: ProviderGateway['api'], response: IncomingMessage): UsageReader | null {
  const status = response.statusCode ?? 0;
  const isSuccess = status >= 200 && status < 300;
  const reader = createUsageReader(isStream(response), providerApis[api].readUsage);
  response.on('data', (chunk: Buffer) => isSuccess && reader.take(chunk));
  return isSuccess ? reader : null;
}

const isStream = ({ headers }: IncomingMessage) => /event-stream/.test(headers['content-type'] ?? '');

/** The message of a refusal with status 413. */
export function tooLarge(maxBytes: number): string {
  return `The request is too large: its body may take at most ${maxBytes} bytes.`;
}

// Returns the reader of the response's usage; null for an error response, which used nothing.
function forwardResponse(
  parts: GatewayParts,
  credential: ProviderCredential,
  { target, outgoing, isCall }: AcceptedRequest,
  response: IncomingMessage,
): UsageReader | null {
  const { api, keys, pace, quota, maskError } = parts;
  const { mask } = keys;
  const status = response.statusCode ?? 0;
  if (status >= 400 && status < 600) {
    const onText = (text: string | null) => {
      if (!isCall) return;
      const refusal = readRefusal({ status, headers: response.headers, text }, Date.now());
      if (refusal !== null) quota.refused(refusal);
      else recordError(parts, credential, readCallFailure({ status, text }, !parts.failures.hasSucceeded(credential)));
    };
    void forwardError({ api, mask, maskError }, response, outgoing, { status, onText });
    return null;
  }
  if (status < 200 || status >= 300) {
    // A redirect names another address, and an agent that followed it would send its key there.
    refuse(
      outgoing,
      api,
      502,
      `The provider at ${target.origin} answered with status ${status}, which is not accepted.`,
    );
    response.destroy();
    return null;
  }
  if (isCall) {
    quota.accepted();
    parts.failures.succeeded(credential);
    parts.onOutcome(credential, null);
  }
  const reader = createUsageReader(isStream(response), providerApis[api].readUsage);
  outgoing.writeHead(status, responseHeaders(response, mask));
  let readingMs = 0;
  response.on('data', (chunk: Buffer) => {
    const startedAt = performance.now();
    reader.take(chunk);
    readingMs += performance.now() - startedAt;
  });
  const takeReadingMs = () => {
    const ms = readingMs;
    readingMs = 0;
    return ms;
  };
  keys.filter(response.pipe(createChunkCoalescer(pace, takeReadingMs))).pipe(outgoing);
  return reader;
}

// The lookup checks each connection: the answer of a name server may change. An address in the URL has no lookup.
function addressRule({ isPrivateAllowed }: ProviderCredential) {
  return isPrivateAllowed === null ? {} : { lookup: checkedLookup(isPrivateAllowed) };
}

/** Refuses a request whose target is an address that the key may not have. Returns false if it may. */
export function refuseAddress(
  parts: GatewayParts,
  credential: ProviderCredential,
  { target, outgoing, isCall }: Pick<AcceptedRequest, 'target' | 'outgoing' | 'isCall'>,
): boolean {
  const { isPrivateAllowed } = credential;
  const address = literalAddress(target.hostname);
  if (isPrivateAllowed === null || address === null || isAllowedAddress(address, isPrivateAllowed)) return false;
  if (isCall) recordConnection(parts, credential, new RefusedAddressError());
  refuse(outgoing, parts.api, 502, unreachableMessage(target));
  return true;
}

const unreachableMessage = ({ origin }: URL) => `The provider at ${origin} could not be reached.`;

/** Records a failure that every further call would have; null: there is none. */
export function recordError(
  { failures, onOutcome }: GatewayParts,
  credential: ProviderCredential,
  code: Parameters<typeof describeFailure>[0] | null,
  reason?: string,
): void {
  if (code === null) return;
  const failure = { code, message: describeFailure(code, credential, reason) };
  failures.failed(failure, credential);
  onOutcome(credential, failure);
}

// A server that has answered in this run may be restarting.
function recordConnection(parts: GatewayParts, credential: ProviderCredential, error: unknown): void {
  const reason = parts.failures.hasSucceeded(credential) ? null : readConnectionFailure(error);
  if (reason !== null) recordError(parts, credential, 'NOT_REACHABLE', reason);
}

function headersFor(
  incoming: IncomingMessage,
  api: ProviderGateway['api'],
  key: string | null,
  framing: OutgoingHttpHeaders,
): OutgoingHttpHeaders {
  return {
    ...forwardedHeaders(incoming.headers),
    // Uncompressed, so that the usage can be read.
    'accept-encoding': 'identity',
    ...(key === null ? {} : providerApis[api].keyHeader(key)),
    ...framing,
  };
}
