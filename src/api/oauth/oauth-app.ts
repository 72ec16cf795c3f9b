import type { Services } from '../../domain/context.ts';
import {
  authorizationMs,
  beginDeviceAuthorization,
  maxClientNameLength,
} from '../../domain/identity/device-authorizations/begin-authorization.ts';
import { pollSeconds, redeemDeviceCode } from '../../domain/identity/device-authorizations/redeem-device-code.ts';
import { readForm } from '../../http/read-body.ts';
import { jsonReply, type Reply } from '../../http/reply.ts';
import type { RequestView } from '../../http/request-view.ts';
import { oauthError, oauthFailure, oauthReply } from './oauth-replies.ts';
import { revokeToken } from './revoke-token.ts';

/** The only client: the command line. It is public, so that its id proves nothing. */
const clientId = 'switchyard-cli';
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';
const maxBytes = 8_192;

type Handler = (form: URLSearchParams, request: RequestView) => Promise<Reply>;

/**
 * Handles the device authorization grant (RFC 8628), by which a program without a browser gets a token of its user, the
 * revocation of such tokens, and the metadata of the authorization server (RFC 8414). Returns null for other paths.
 */
export function createOauth(services: Services): (request: RequestView) => Promise<Reply> | null {
  const endpoints = new Map<string, Handler>([
    ['/oauth/device_authorization', (form, { address }) => begin(services, form, address)],
    ['/oauth/token', (form, { address }) => redeem(services, form, address)],
    ['/oauth/revoke', (form, { address }) => revokeToken(services, form, address)],
  ]);
  return (request) => {
    if (request.path === '/.well-known/oauth-authorization-server') return metadata(services, request);
    const endpoint = endpoints.get(request.path);
    return endpoint ? answer(services, endpoint, request) : null;
  };
}

async function metadata({ baseUrl }: Services, { method }: RequestView): Promise<Reply> {
  if (method !== 'GET' && method !== 'HEAD') return refuseMethod('GET, HEAD');
  return jsonReply(200, {
    issuer: baseUrl,
    'device_authorization_endpoint': `${baseUrl}/oauth/device_authorization`,
    'token_endpoint': `${baseUrl}/oauth/token`,
    'revocation_endpoint': `${baseUrl}/oauth/revoke`,
    'response_types_supported': [],
    'grant_types_supported': [deviceGrant],
    'token_endpoint_auth_methods_supported': ['none'],
    'revocation_endpoint_auth_methods_supported': ['none'],
  });
}

async function answer(services: Services, handle: Handler, request: RequestView): Promise<Reply> {
  if (request.method !== 'POST') return refuseMethod('POST');
  try {
    const form = await readForm(request, maxBytes);
    if (form === null) {
      const needed = `The body must be a form (application/x-www-form-urlencoded) of at most ${maxBytes} bytes.`;
      return oauthError('invalid_request', needed);
    }
    const repeated = [...new Set(form.keys())].find((name) => form.getAll(name).length > 1);
    if (repeated !== undefined) return oauthError('invalid_request', 'A parameter occurs more than once.');
    if (form.get('client_id') !== clientId)
      return oauthError('invalid_client', `"client_id" must be "${clientId}".`, { status: 401 });
    return await handle(form, request);
  } catch (error) {
    return oauthFailure(services, error);
  }
}

const refuseMethod = (allow: string): Reply =>
  oauthError('invalid_request', `Allowed methods: ${allow}.`, { status: 405, headers: { allow } });

async function begin(services: Services, form: URLSearchParams, address: string | null): Promise<Reply> {
  const name = form.get('client_name')?.trim() || 'Command line';
  if (name.length > maxClientNameLength || /\p{C}/u.test(name)) {
    const rule = `"client_name" must have at most ${maxClientNameLength} characters, none of them a control character.`;
    return oauthError('invalid_request', rule);
  }
  const { deviceCode, userCode } = await beginDeviceAuthorization(services, name, address);
  // Without `verification_uri_complete`: a link with the code would let others ask for an approval by a click.
  return oauthReply({
    'device_code': deviceCode,
    'user_code': userCode,
    'verification_uri': `${services.baseUrl}/device`,
    'expires_in': authorizationMs / 1_000,
    interval: pollSeconds,
  });
}

async function redeem(services: Services, form: URLSearchParams, address: string | null): Promise<Reply> {
  if (form.get('grant_type') !== deviceGrant)
    return oauthError('unsupported_grant_type', `"grant_type" must be "${deviceGrant}".`);
  const code = form.get('device_code');
  if (!code) return oauthError('invalid_request', '"device_code" is missing.');
  const redeemed = await redeemDeviceCode(services, code, address);
  switch (redeemed.state) {
    case 'granted': {
      const { expiresAt } = redeemed;
      const seconds = expiresAt && Math.max(0, Math.floor((expiresAt.getTime() - services.now().getTime()) / 1_000));
      return oauthReply({
        'access_token': code,
        'token_type': 'Bearer',
        ...(seconds !== null && { 'expires_in': seconds }),
      });
    }
    case 'pending':
      return oauthError('authorization_pending', 'The user has not decided yet.');
    case 'slow_down':
      return oauthError('slow_down', `Ask every ${pollSeconds} seconds.`);
    case 'denied':
      return oauthError('access_denied', 'The user refused access.');
    case 'expired':
      return oauthError('expired_token', 'The code has expired. Ask for a new one.');
  }
}
