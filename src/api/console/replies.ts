import { invalidKeyMessage } from '../../auth/authenticate.ts';
import { DomainError, type ErrorCode, RateLimitedError, UnavailableError } from '../../common/errors.ts';
import type { Services } from '../../domain/context.ts';
import { SignOnError } from '../../domain/identity/sign-on/refusals.ts';
import { asRefusal } from '../../domain/unavailable.ts';
import { jsonReply, type Reply } from '../../http/reply.ts';
import type { RequestView } from '../../http/request-view.ts';
import { isFromConsole, isOwnOrigin } from '../../http/same-origin.ts';

/** The functions of a path, by method. */
export type MethodHandlers = Readonly<Record<string, (request: RequestView) => Promise<Reply>>>;

const invalidToken =
  "That token isn't valid. Check for typos, or create a new one: it may have expired or been revoked.";

/**
 * Answers a request of a page of the console: it has the header `Switchyard-Client: console` and the service's own origin, which
 * browsers leave out of reads.
 */
export async function answerConsole(
  services: Services,
  handlers: MethodHandlers,
  request: RequestView,
): Promise<Reply> {
  const { method } = request;
  const handler = Object.hasOwn(handlers, method) ? handlers[method] : undefined;
  if (!handler) {
    const names = Object.keys(handlers).join(', ');
    return errorReply(405, 'INVALID_INPUT', `Allowed methods: ${names}.`, { allow: names });
  }
  const origin = request.header('origin');
  const isRead = method === 'GET' && origin === null;
  const isOwn = isRead || isOwnOrigin(origin, request.header('host'), services.baseUrl);
  if (!isFromConsole(request) || !isOwn) {
    return errorReply(403, 'FORBIDDEN', 'Only pages of the console can sign in and out here.');
  }
  return handler(request).catch((error: unknown) => failureReply(services, error));
}

/** Returns the reply for a failure of a sign-in. Logs one that is not the caller's. */
function failureReply(services: Services, failure: unknown): Reply {
  const error = asRefusal(failure);
  if (error instanceof RateLimitedError || error instanceof UnavailableError) {
    const status = error instanceof RateLimitedError ? 429 : 503;
    return errorReply(status, error.code, error.message, { 'retry-after': String(error.retryAfterSeconds) });
  }
  if (error instanceof SignOnError) return refusalReply(error);
  if (error instanceof DomainError && error.code === 'UNAUTHENTICATED') {
    // The message for an invalid request header does not fit a form.
    return errorReply(401, error.code, error.message === invalidKeyMessage ? invalidToken : error.message);
  }
  if (error instanceof DomainError && error.code === 'FORBIDDEN') return errorReply(403, error.code, error.message);
  services.log.error({ err: error }, 'A sign-in to the console failed.');
  return errorReply(500, 'INTERNAL_SERVER_ERROR', 'Unexpected error.');
}

const statuses: Partial<Record<ErrorCode, number>> = {
  NOT_FOUND: 404,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  SERVICE_UNAVAILABLE: 503,
};

// Pages show a text of their own for each reason.
function refusalReply({ code, message, reason }: SignOnError): Reply {
  const retry = code === 'SERVICE_UNAVAILABLE' ? { 'retry-after': '5' } : {};
  const headers = { 'cache-control': 'no-store', ...retry };
  return jsonReply(statuses[code] ?? 400, { code, reason, message }, headers);
}

/** Returns a reply with the code and the message of an error. */
export function errorReply(status: number, code: string, message: string, headers: Record<string, string> = {}): Reply {
  return jsonReply(status, { code, message }, { 'cache-control': 'no-store', ...headers });
}
