import { AddressNotAllowedError } from '../../auth/authenticate.ts';
import { readToken } from '../../auth/tokens.ts';
import { DomainError } from '../../common/errors.ts';
import type { Services } from '../../domain/context.ts';
import { revokeApiKey } from '../../domain/identity/keys/revoke-api-keys.ts';
import { authenticateLimited } from '../../domain/limits/authenticate-limited.ts';
import { Reply } from '../../http/reply.ts';
import { oauthError } from './oauth-replies.ts';

/**
 * Handles the revocation of a token (RFC 7009): a token of a user or a service user revokes itself. A token that is not valid counts as revoked. A
 * token that the IP access list refuses at this address stays valid, and gets an error.
 */
export async function revokeToken(services: Services, form: URLSearchParams, address: string | null): Promise<Reply> {
  const token = form.get('token');
  if (!token) return oauthError('invalid_request', '"token" is missing.');
  try {
    const viewer = await authenticateLimited(services, readToken(token, true), address);
    const isRevocable = viewer.keyKind === 'PERSONAL_ACCESS_TOKEN' || viewer.keyKind === 'SERVICE_USER';
    if (!isRevocable || viewer.apiKeyId === null)
      return oauthError('unsupported_token_type', 'Only tokens of users and service users can be revoked here.');
    await revokeApiKey({ ...services, viewer, address }, { apiKeyId: viewer.apiKeyId });
  } catch (error) {
    // The token stays valid elsewhere, so the program must not count it as revoked.
    if (error instanceof AddressNotAllowedError) return oauthError('access_denied', error.message, { status: 403 });
    if (!(error instanceof DomainError) || !['UNAUTHENTICATED', 'INVALID_STATE'].includes(error.code)) throw error;
  }
  return new Reply(200, { 'cache-control': 'no-store', 'content-length': '0' });
}
