import { DomainError, RateLimitedError, UnavailableError } from '../../common/errors.ts';
import type { Services } from '../../domain/context.ts';
import { asRefusal } from '../../domain/unavailable.ts';
import { jsonReply, type Reply } from '../../http/reply.ts';

/** The error codes of RFC 6749, RFC 7009 and RFC 8628 that the service uses. `temporarily_unavailable` is that of RFC 6749's section 4.1.2.1. */
export type OauthErrorCode =
  | 'access_denied'
  | 'authorization_pending'
  | 'expired_token'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_request'
  | 'server_error'
  | 'slow_down'
  | 'temporarily_unavailable'
  | 'unsupported_grant_type'
  | 'unsupported_token_type';

const noStore = { 'cache-control': 'no-store' };

/** Returns a successful answer, which no cache may keep. */
export const oauthReply = (body: object): Reply => jsonReply(200, body, noStore);

/** Returns an error as RFC 6749 describes it, with status 400 unless `status` says otherwise. */
export function oauthError(
  error: OauthErrorCode,
  description: string,
  { status = 400, headers = {} }: { readonly status?: number; readonly headers?: Record<string, string> } = {},
): Reply {
  return jsonReply(status, { error, 'error_description': description }, { ...noStore, ...headers });
}

/** Returns the answer to a failed request. Logs a failure that is not the caller's. */
export function oauthFailure({ log }: Pick<Services, 'log'>, failure: unknown): Reply {
  const error = asRefusal(failure);
  if (error instanceof RateLimitedError || error instanceof UnavailableError) {
    const status = error instanceof RateLimitedError ? 429 : 503;
    return oauthError('temporarily_unavailable', error.message, {
      status,
      headers: { 'retry-after': String(error.retryAfterSeconds) },
    });
  }
  if (error instanceof DomainError && error.code === 'UNAUTHENTICATED')
    return oauthError('invalid_grant', error.message);
  log.error({ err: error }, 'A request of a program that asked for access failed.');
  return oauthError('server_error', 'Unexpected error.', { status: 500 });
}
