import { GraphQLError } from 'graphql';
import { invalidKeyMessage } from '../../auth/authenticate.ts';
import { DomainError, RateLimitedError, UnavailableError } from '../../common/errors.ts';
import { maxJsonDepth, nestsDeeper } from '../../common/json-depth.ts';
import { limitHeaders } from '../../domain/limits/limit-headers.ts';
import { asRefusal } from '../../domain/unavailable.ts';
import { jsonReply, type Reply } from '../../http/reply.ts';
import { queryOf, type RequestView } from '../../http/request-view.ts';
import { refusalOf } from './charge.ts';
import type { Charge } from './context.ts';
import type { RequestErrorCode } from './error-codes.ts';
import { extensionsOf, internalError, outageHeaders } from './errors.ts';
import { BodyError } from './read-body.ts';

/** One message for every problem with a key, so that it does not reveal if the key was ever valid. */
const unauthenticated =
  'Send a valid token as "Authorization: Bearer <token>": it is missing, unknown, expired or revoked.';

/** A response with one error, for a request that failed before any operation could run. */
export function failure(status: number, code: RequestErrorCode, message: string): Reply {
  const headers: Record<string, string> = status === 401 ? { 'www-authenticate': 'Bearer' } : {};
  return jsonReply(status, { errors: [{ message, extensions: { code } }] }, headers);
}

/** The response to an error thrown before an operation could run. `report`: as {@link maskError} takes it. */
export function failureOf(failed: unknown, report: (error: unknown) => string): Reply {
  const error = asRefusal(failed);
  if (error instanceof BodyError) {
    const answer = failure(error.status, 'INVALID_INPUT', error.message);
    // The rest of the body is not read, so the connection cannot carry another request.
    return error.status === 413 ? answer.with({ connection: 'close' }) : answer;
  }
  if (error instanceof DomainError && error.code === 'UNAUTHENTICATED')
    return failure(401, error.code, error.message === invalidKeyMessage ? unauthenticated : error.message);
  if (error instanceof RateLimitedError || error instanceof UnavailableError)
    return refused(new GraphQLError(error.message, { extensions: extensionsOf(error) }));
  return jsonReply(500, { errors: [internalError(report(error))] });
}

/**
 * Adds the points that the key has left to the response. If the key had too few, returns the RATE_LIMITED error
 * instead.
 */
export function charged(reply: Reply, charge: Charge): Reply {
  const refusal = refusalOf(charge);
  // Cancels the stream of the response that is not sent.
  if (refusal) reply.withoutBody();
  return (refusal ? refused(refusal) : reply).with(limitHeaders(charge.spending));
}

// The same for every response type.
function refused(error: GraphQLError): Reply {
  const headers = { 'retry-after': String(error.extensions.retryAfter) };
  return jsonReply(outageHeaders([error]) ? 503 : 429, { errors: [error] }, headers);
}

const answerTypes =
  /^(?:\*|\*\/\*|application\/(?:\*|json|graphql-response\+json)|text\/(?:\*|event-stream)|multipart\/mixed)$/i;

/** A 406 or 415 for a request that cannot be answered or read; otherwise null. Checked before any other work. */
export function findMismatch(request: RequestView): Reply | null {
  const accept = request.header('accept');
  const types = (accept ?? '*/*').split(',').map((range) => (range.split(';')[0] ?? '').trim());
  if (accept?.trim() !== '' && !types.some((type) => answerTypes.test(type))) {
    const message =
      'The answer is application/json, application/graphql-response+json, multipart/mixed or text/event-stream: accept one.';
    return failure(406, 'INVALID_INPUT', message);
  }
  // A page of any origin may send forms and plain text without a CORS preflight, so neither can carry an operation.
  if (request.method !== 'POST' || isJson(request.header('content-type'))) return null;
  return failure(415, 'INVALID_INPUT', 'The body must be JSON, sent with "Content-Type: application/json".');
}

/** The 406 for a result that none of the accepted types can carry. */
export function notAcceptable(): Reply {
  const message =
    'Accept application/json or application/graphql-response+json for a query or a mutation, and text/event-stream for a subscription.';
  return failure(406, 'BAD_REQUEST', message);
}

/** A 400 for a GET with invalid JSON in its URL; otherwise null. */
export function findBadAddress(request: RequestView): Reply | null {
  if (request.method !== 'GET') return null;
  const params = queryOf(request);
  for (const name of ['variables', 'extensions']) {
    const text = params.get(name);
    if (text && nestsDeeper(text)) {
      return failure(400, 'BAD_REQUEST', `"${name}" in the address must not nest deeper than ${maxJsonDepth} levels.`);
    }
    if (text && !isJsonObject(text)) {
      return failure(400, 'BAD_REQUEST', `"${name}" in the address must be a JSON object.`);
    }
  }
  return null;
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && !Array.isArray(value);
  } catch {
    return false;
  }
}

function isJson(contentType: string | null): boolean {
  return /^application\/(?:graphql\+)?json\s*(?:;|$)/i.test(contentType ?? '');
}

/** Returns true if the response may be server-sent events. */
export function wantsStream(accept: string | null): boolean {
  return accept?.includes('text/event-stream') ?? false;
}

/**
 * Returns true if the response may be multipart (`@defer`). A client must request it by name: `*` accepts anything but hardly
 * expects it.
 */
export function takesParts(accept: string | null): boolean {
  return wantsStream(accept) || (accept?.includes('multipart/mixed') ?? false);
}

/** Returns true if the response must be server-sent events, even for a single result. */
export function takesOnlyStream(accept: string | null): boolean {
  return wantsStream(accept) && !/application\/|multipart\/mixed|\*\/\*/.test(accept ?? '');
}
