import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { ExecutionResult, GraphQLError } from 'graphql';
import { findCachedViewer } from '../../auth/authenticate.ts';
import { readToken } from '../../auth/tokens.ts';
import type { Services } from '../../domain/context.ts';
import { nestsDeeper } from '../../domain/json-depth.ts';
import { limitHeaders } from '../../domain/limits/limit-headers.ts';
import { hasHeaderOnce, isCanonicalHost, readIncomingBody } from '../../http/fast-path-request.ts';
import type { JsonAnswer } from '../../http/response-finalizer.ts';
import { isJson } from './answers.ts';
import { chargeOperation } from './charge.ts';
import type { ContextOf } from './context.ts';
import { outageHeaders } from './errors.ts';
import type { CompiledOperation } from './execution/index.ts';
import { weigh } from './operation-gate.ts';
import type { Plans } from './plans/plans.ts';
import { maxBodyBytes } from './read-body.ts';
import { documentOf, type TrustedDocuments } from './trusted-documents.ts';

/** Options of {@link createGraphqlFastPath}. */
export interface GraphqlFastPathOptions {
  readonly services: Services;
  readonly plans: Plans;
  readonly trusted: TrustedDocuments;
  readonly isIntrospectable: boolean;
  readonly contextOf: ContextOf;
  readonly maskError: (error: unknown) => GraphQLError;
}

/**
 * Runs a query on the fast path. Null for a request that must take the normal path; nothing has been done for it then,
 * and the body is left in `incoming.rawBody`, where @hono/node-server reads it.
 */
export type GraphqlFastPath = (incoming: IncomingMessage, address: string | null) => Promise<JsonAnswer | null>;

/** The members of a request that identify the operation and do nothing else. */
const names = new Set(['query', 'variables', 'operationName', 'extensions', 'documentId', 'doc_id', 'id']);

/**
 * Answers a POST query whose document and token are cached, without the objects and layers of the normal path. It only
 * produces responses of operations that run: a request with any problem or unusual feature takes the normal path, which
 * refuses it as usual. Limits, charges and the viewer's permissions are the same.
 */
export function createGraphqlFastPath(options: GraphqlFastPathOptions): GraphqlFastPath {
  const { services, contextOf, maskError } = options;
  return async (incoming, address) => {
    const type = answerTypeOf(incoming);
    const token = type === null ? null : readToken(incoming.headers.authorization, false);
    if (type === null || token === null) return null;
    const cachedViewer = findCachedViewer(services, token, address);
    // If the key cannot be read now, the normal path reads it again and reports the failure.
    const viewer = cachedViewer instanceof Promise ? await cachedViewer.catch(() => null) : cachedViewer;
    if (viewer === null) return null;
    const body = await readIncomingBody(incoming);
    const ready = prepare(options, body);
    const isTooExpensive = ready && services.limits.graphql.limit > 0 && ready.cost > services.limits.graphql.limit;
    if (ready === null || isTooExpensive) {
      Object.assign(incoming, { rawBody: body });
      return null;
    }
    const { headers } = incoming;
    const context = contextOf(viewer, address, {
      idempotencyKey: (headers['idempotency-key'] as string | undefined) ?? null,
      lastEventId: null,
      isConsole: headers['switchyard-client'] === 'console',
      takesParts: false,
      takesEvents: false,
    });
    const refusal = await chargeOperation(context, ready.cost);
    const limits = limitHeaders(context.charge.spending);
    if (refusal) {
      const retry = { 'content-type': 'application/json', 'retry-after': String(refusal.extensions.retryAfter) };
      return { status: 429, headers: { ...retry, ...limits }, text: JSON.stringify({ errors: [refusal] }) };
    }
    const running = ready.run({ context, variables: ready.variables });
    const result = running instanceof Promise ? await running : running;
    const masked = withMaskedErrors(result, maskError);
    const outage = outageHeaders(masked.errors);
    const text = toText(masked, ready.cost, maskError);
    const all = { 'content-type': `${type}; charset=utf-8`, ...limits, ...outage };
    return { status: outage ? 503 : 200, headers: all, text };
  };
}

/** The content type of the response; null if the request does not qualify. */
function answerTypeOf({ method, url, headers, rawHeaders }: IncomingMessage): string | null {
  if (method !== 'POST' || url !== '/graphql' || !isJson(headers['content-type'] ?? null)) return null;
  const length = headers['content-length'];
  if (length === undefined || Number(length) > maxBodyBytes || !isCanonicalHost(headers.host)) return null;
  if (!hasHeaderOnce('authorization', rawHeaders) || !hasHeaderOnce('content-type', rawHeaders)) return null;
  return answerTypes[headers.accept ?? '*/*'] ?? null;
}

/** The response type for each `Accept` header that clients send, matched exactly. */
const answerTypes: Readonly<Record<string, string>> = {
  '*/*': 'application/json',
  'application/json': 'application/json',
};

interface Ready {
  readonly run: CompiledOperation;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly cost: number;
}

/** Returns the operation to run if it passes the whole gate; otherwise null. */
function prepare({ plans, trusted, isIntrospectable }: GraphqlFastPathOptions, body: Buffer): Ready | null {
  const params = readParams(body);
  if (!params) return null;
  const text = textOf(trusted, params);
  const plan = text === null ? null : (plans.find(text)?.find(params.operationName as string | null) ?? null);
  if (plan === null || plan.operation.operation !== 'query') return null;
  const estimate = weigh(plan, (params.variables ?? {}) as Record<string, unknown>, isIntrospectable);
  if (estimate.errors) return null;
  const run = plan.compiled(estimate.variables);
  return run && { run, variables: estimate.variables, cost: estimate.cost };
}

function readParams(body: Buffer): Record<string, unknown> | null {
  // A byte order mark also takes the normal path.
  if (body[0] !== 0x7b || !isUtf8(body)) return null;
  const text = body.toString('utf8');
  if (nestsDeeper(text)) return null;
  let params: Record<string, unknown>;
  try {
    params = JSON.parse(text);
  } catch {
    return null;
  }
  for (const name of Object.keys(params)) if (!names.has(name)) return null;
  const { operationName, variables, extensions } = params;
  const isName = operationName == null || typeof operationName === 'string';
  return isName && isObject(variables) && isObject(extensions) ? params : null;
}

const isObject = (value: unknown) => value == null || (typeof value === 'object' && !Array.isArray(value));

function textOf(trusted: TrustedDocuments, params: Readonly<Record<string, unknown>>): string | null {
  try {
    return documentOf(trusted, params);
  } catch {
    return null;
  }
}

function toText(result: ExecutionResult, cost: number, maskError: GraphqlFastPathOptions['maskError']): string {
  try {
    return JSON.stringify(toAnswer(result, cost));
  } catch (error) {
    // The result exceeds the maximum length of a string.
    return JSON.stringify({ errors: [maskError(error).toJSON()], extensions: { cost } });
  }
}

function withMaskedErrors(result: ExecutionResult, maskError: GraphqlFastPathOptions['maskError']): ExecutionResult {
  return result.errors ? { ...result, errors: result.errors.map(maskError) } : result;
}

function toAnswer({ data, errors }: ExecutionResult, cost: number): object {
  return { ...(errors && { errors: errors.map((error) => error.toJSON()) }), data, extensions: { cost } };
}
