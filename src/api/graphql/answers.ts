import { GraphQLError } from 'graphql';
import { invalidKeyMessage } from '../../auth/authenticate.ts';
import { DomainError, RateLimitedError, UnavailableError } from '../../domain/errors.ts';
import { maxJsonDepth, nestsDeeper } from '../../domain/json-depth.ts';
import { asRefusal } from '../../domain/unavailable.ts';
import { limitHeaders } from '../../domain/usage/limits/limit-headers.ts';
import { refusalOf } from './charge.ts';
import type { Charge } from './context.ts';
import type { RequestErrorCode } from './error-codes.ts';
import { extensionsOf, outageHeaders } from './errors.ts';
import { BodyError } from './read-body.ts';

/** In the same words whatever is wrong with a key: they must not say whether it was ever good. */
const unauthenticated =
  'Send a valid token as "Authorization: Bearer <token>": it is missing, unknown, expired or revoked.';

/** An answer that says one thing went wrong, before any operation could. */
export function failure(status: number, code: RequestErrorCode, message: string): Response {
  const headers: Record<string, string> = status === 401 ? { 'www-authenticate': 'Bearer' } : {};
  return Response.json({ errors: [{ message, extensions: { code } }] }, { status, headers });
}

/** The answer to what was thrown before an operation could run; `report` is told of what is nobody's fault but ours. */
export function failureOf(failed: unknown, report: (error: unknown) => void): Response {
  const error = asRefusal(failed);
  if (error instanceof BodyError) {
    const answer = failure(error.status, 'INVALID_INPUT', error.message);
    // What is left of the body is not read: the connection can carry no other request.
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

/** The answer with what is left of its key's points, or instead of it that there are too few. */
export async function charged(response: Response, charge: Charge): Promise<Response> {
  const refusal = refusalOf(charge);
  if (refusal) await response.body?.cancel();
  const answer = refusal ? refused(refusal) : response;
  for (const [name, value] of Object.entries(limitHeaders(charge.spending))) answer.headers.set(name, value);
  return answer;
}

// The same for every type of answer that was asked for.
function refused(error: GraphQLError): Response {
  const headers = { 'retry-after': String(error.extensions.retryAfter) };
  return Response.json({ errors: [error] }, { status: outageHeaders([error]) ? 503 : 429, headers });
}

const answerTypes =
  /^(?:\*|\*\/\*|application\/(?:\*|json|graphql-response\+json)|text\/(?:\*|event-stream)|multipart\/mixed)$/i;

/** 406 and 415 for what could not be answered or read; null when it can. Asked before anything is done for the request. */
export function findMismatch(request: Request): Response | null {
  const accept = request.headers.get('accept');
  const types = (accept ?? '*/*').split(',').map((range) => (range.split(';')[0] ?? '').trim());
  if (accept?.trim() !== '' && !types.some((type) => answerTypes.test(type))) {
    const message =
      'The answer is application/json, application/graphql-response+json, multipart/mixed or text/event-stream: accept one.';
    return failure(406, 'INVALID_INPUT', message);
  }
  // A page of any origin may post forms and plain text without asking; what only we understand it may not.
  if (request.method !== 'POST' || isJson(request.headers.get('content-type'))) return null;
  return failure(415, 'INVALID_INPUT', 'The body must be JSON, sent with "Content-Type: application/json".');
}

/** The answer, and with words where Yoga leaves out why it cannot be given. */
export function explained(response: Response): Response {
  if (response.status !== 406 || response.body !== null) return response;
  const message =
    'Accept application/json or application/graphql-response+json for a query or a mutation, and text/event-stream for a subscription.';
  return failure(406, 'BAD_REQUEST', message);
}

/** 400 for a GET whose address has JSON that cannot be read; null for any other request. */
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

/** Whether a body is JSON. */
export function isJson(contentType: string | null): boolean {
  return /^application\/(?:graphql\+)?json\s*(?:;|$)/i.test(contentType ?? '');
}

/** Whether the answer may be server-sent events. */
export function wantsStream(request: Request): boolean {
  return request.headers.get('accept')?.includes('text/event-stream') ?? false;
}

/** Whether the answer may come in parts: only for who says so, since `*` takes anything but hardly expects it. */
export function takesParts(request: Request): boolean {
  return wantsStream(request) || (request.headers.get('accept')?.includes('multipart/mixed') ?? false);
}

/** Whether the answer must be server-sent events, also where there is only one. */
export function takesOnlyStream(request: Request): boolean {
  const accept = request.headers.get('accept') ?? '';
  return wantsStream(request) && !/application\/|multipart\/mixed|\*\/\*/.test(accept);
}
