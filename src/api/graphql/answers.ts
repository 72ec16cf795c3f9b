import { GraphQLError } from 'graphql';
import { invalidKeyMessage } from '../../auth/authenticate.ts';
import { DomainError, RateLimitedError, UnavailableError } from '../../common/errors.ts';
import { maxJsonDepth, nestsDeeper } from '../../domain/json-depth.ts';
import { limitHeaders } from '../../domain/limits/limit-headers.ts';
import { asRefusal } from '../../domain/unavailable.ts';
import { refusalOf } from './charge.ts';
import type { Charge } from './context.ts';
import type { RequestErrorCode } from './error-codes.ts';
import { extensionsOf, outageHeaders } from './errors.ts';
import { BodyError } from './read-body.ts';

/** One message for every problem with a key, so that it does not reveal if the key was ever valid. */
const unauthenticated =
  'Send a valid token as "Authorization: Bearer <token>": it is missing, unknown, expired or revoked.';

/** A response with one error, for a request that failed before any operation could run. */
export function failure(status: number, code: RequestErrorCode, message: string): Response {
  const headers: Record<string, string> = status === 401 ? { 'www-authenticate': 'Bearer' } : {};
  return Response.json({ errors: [{ message, extensions: { code } }] }, { status, headers });
}

/** The response to an error thrown before an operation could run. `report` gets unexpected errors. */
export function failureOf(failed: unknown, report: (error: unknown) => void): Response {
  const error = asRefusal(failed);
  if (error instanceof BodyError) {
    const answer = failure(error.status, 'INVALID_INPUT', error.message);
    // The rest of the body is not read, so the connection cannot carry another request.
    if (error.status === 413) answer.headers.set('connection', 'close');
    return answer;
  }
  if (error instanceof DomainError && error.code === 'UNAUTHENTICATED')
    return failure(401, error.code, error.message === invalidKeyMessage ? unauthenticated : error.message);
  if (error instanceof RateLimitedError || error instanceof UnavailableError)
    return refused(new GraphQLError(error.message, { extensions: extensionsOf(error) }));
  report(error);
  return failure(500, 'INTERNAL_SERVER_ERROR', 'Unexpected error.');
}

/**
 * Adds the points that the key has left to the response. If the key had too few, returns the RATE_LIMITED error
 * instead.
 */
export async function charged(response: Response, charge: Charge): Promise<Response> {
  const refusal = refusalOf(charge);
  if (refusal) await response.body?.cancel();
  const answer = refusal ? refused(refusal) : response;
  for (const [name, value] of Object.entries(limitHeaders(charge.spending))) answer.headers.set(name, value);
  return answer;
}

// The same for every response type.
function refused(error: GraphQLError): Response {
  const headers = { 'retry-after': String(error.extensions.retryAfter) };
  return Response.json({ errors: [error] }, { status: outageHeaders([error]) ? 503 : 429, headers });
}

const answerTypes =
  /^(?:\*|\*\/\*|application\/(?:\*|json|graphql-response\+json)|text\/(?:\*|event-stream)|multipart\/mixed)$/i;

/** A 406 or 415 for a request that cannot be answered or read; otherwise null. Checked before any other work. */
export function findMismatch(request: Request): Response | null {
  const accept = request.headers.get('accept');
  const types = (accept ?? '*/*').split(',').map((range) => (range.split(';')[0] ?? '').trim());
  if (accept?.trim() !== '' && !types.some((type) => answerTypes.test(type))) {
    const message =
      'The answer is application/json, application/graphql-response+json, multipart/mixed or text/event-stream: accept one.';
    return failure(406, 'INVALID_INPUT', message);
  }
  // A page of any origin may send forms and plain text without a CORS preflight, so neither can carry an operation.
  if (request.method !== 'POST' || isJson(request.headers.get('content-type'))) return null;
  return failure(415, 'INVALID_INPUT', 'The body must be JSON, sent with "Content-Type: application/json".');
}

/** Adds a message to a response where Yoga gives no reason for the error. */
export function explained(response: Response): Response {
  if (response.status !== 406 || response.body !== null) return response;
  const message =
    'Accept application/json or application/graphql-response+json for a query or a mutation, and text/event-stream for a subscription.';
  return failure(406, 'BAD_REQUEST', message);
}

/** A 400 for a GET with invalid JSON in its URL; otherwise null. */
export function findBadAddress(request: Request): Response | null {
  if (request.method !== 'GET') return null;
  const params = new URL(request.url).searchParams;
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

/** Returns true if a body is JSON. */
export function isJson(contentType: string | null): boolean {
  return /^application\/(?:graphql\+)?json\s*(?:;|$)/i.test(contentType ?? '');
}

/** Returns true if the response may be server-sent events. */
export function wantsStream(request: Request): boolean {
  return request.headers.get('accept')?.includes('text/event-stream') ?? false;
}

/**
 * Returns true if the response may be multipart (`@defer`). A client must request it by name: `*` accepts anything but hardly
 * expects it.
 */
export function takesParts(request: Request): boolean {
  return wantsStream(request) || (request.headers.get('accept')?.includes('multipart/mixed') ?? false);
}

/** Returns true if the response must be server-sent events, even for a single result. */
export function takesOnlyStream(request: Request): boolean {
  const accept = request.headers.get('accept') ?? '';
  return wantsStream(request) && !/application\/|multipart\/mixed|\*\/\*/.test(accept);
}
