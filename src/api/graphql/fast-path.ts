import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { ExecutionResult, GraphQLError } from 'graphql';
import { findCachedViewer } from '../../auth/authenticate.ts';
import { readToken } from '../../auth/tokens.ts';
import type { Services } from '../../domain/context.ts';
import { nestsDeeper } from '../../domain/json-depth.ts';
import { limitHeaders } from '../../domain/usage/limits/limit-headers.ts';
import { hasHeaderOnce, isCanonicalHost, readIncomingBody } from '../../http/fast-path-request.ts';
import type { JsonAnswer } from '../../http/response-finalizer.ts';
import { isJson } from './answers.ts';
import { chargeOperation } from './charge.ts';
import type { ContextOf } from './context.ts';
import { outageHeaders } from './errors.ts';
import type { CompiledOperation } from './execution/compile.ts';
import type { Plans } from './execution/plans.ts';
import { weigh } from './operation-gate.ts';
import { maxBodyBytes } from './read-body.ts';
import { documentOf, type TrustedDocuments } from './trusted-documents.ts';

/** What {@link createGraphqlFastPath} needs. */
export interface GraphqlFastPathOptions {
  readonly services: Services;
  readonly plans: Plans;
  readonly trusted: TrustedDocuments;
  readonly isIntrospectable: boolean;
  readonly contextOf: ContextOf;
  readonly maskError: (error: unknown) => GraphQLError;
}

/**
 * The short way of a query: null for what is to take the long one, and then nothing has been done for it; the body that has
 * been read is left in `incoming.rawBody`, where @hono/node-server looks for it.
 */
export type GraphqlFastPath = (incoming: IncomingMessage, address: string | null) => Promise<JsonAnswer | null>;

/** Names of params that say which operation it is, and nothing else. */
const names = new Set(['query', 'variables', 'operationName', 'extensions', 'documentId', 'doc_id', 'id']);

/**
 * Answers a query by POST whose document and whose token have been seen before, without the objects and layers that all
 * other requests are given. It knows no answer but that of an operation that runs: whatever is wrong with a request, or
 * only unusual, takes the long way, where it is refused as ever. Limits, charges and the rights of the viewer are the same.
 */
export function createGraphqlFastPath(options: GraphqlFastPathOptions): GraphqlFastPath {
  const { services, contextOf, maskError } = options;
  return async (incoming, address) => {
    const type = answerTypeOf(incoming);
    const token = type === null ? null : readToken(incoming.headers.authorization, false);
    if (type === null || token === null) return null;
    const cachedViewer = findCachedViewer(services, token, address);
    // What cannot be read now is read again, and its failure told, on the long way.
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

/** How the answer is called; null where the request is no plain one. */
function answerTypeOf({ method, url, headers, rawHeaders }: IncomingMessage): string | null {
  if (method !== 'POST' || url !== '/graphql' || !isJson(headers['content-type'] ?? null)) return null;
  const length = headers['content-length'];
  if (length === undefined || Number(length) > maxBodyBytes || !isCanonicalHost(headers.host)) return null;
  if (!hasHeaderOnce('authorization', rawHeaders) || !hasHeaderOnce('content-type', rawHeaders)) return null;
  return answerTypes[headers.accept ?? '*/*'] ?? null;
}

/** The answer's type for what clients accept, word for word. */
const answerTypes: Readonly<Record<string, string>> = {
  '*/*': 'application/json',
  'application/json': 'application/json',
};

interface Ready {
  readonly run: CompiledOperation;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly cost: number;
}

/** What is to be run, when the whole gate would let it pass; else null. */
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
  // A byte order mark is for the long way too.
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
    // Longer than a text can be.
    return JSON.stringify({ errors: [maskError(error).toJSON()], extensions: { cost } });
  }
}

function withMaskedErrors(result: ExecutionResult, maskError: GraphqlFastPathOptions['maskError']): ExecutionResult {
  return result.errors ? { ...result, errors: result.errors.map(maskError) } : result;
}

function toAnswer({ data, errors }: ExecutionResult, cost: number): object {
  return { ...(errors && { errors: errors.map((error) => error.toJSON()) }), data, extensions: { cost } };
}
