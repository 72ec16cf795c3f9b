import { type JWTVerifyGetKey, jwtVerify } from 'jose';
import { OidcError } from './errors.ts';

/** The maximum age of a logout token, and the time for which its id counts as used. */
const maxAgeSeconds = 10 * 60;
const event = 'http://schemas.openid.net/event/backchannel-logout';
/** Signatures with keys of the provider. A shared secret and `none` do not count. */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** The content of a token of a back-channel logout: the sessions that end. */
export interface LogoutToken {
  readonly issuer: string;
  /** Null: the session `sid` alone ends. */
  readonly subject: string | null;
  /** Null: all sessions of the subject end. */
  readonly sid: string | null;
  /** The id of the token, which counts once. */
  readonly jti: string;
  /** The time after which the token is refused in any case. */
  readonly expiresAt: Date;
}

/** The values that a logout token must have. */
interface Expected {
  readonly issuer: string;
  readonly clientId: string;
  readonly clockToleranceSeconds: number;
  readonly now: () => Date;
}

/** Checks a logout token (OpenID Connect Back-Channel Logout 1.0, section 2.6). Throws an {@link OidcError}. */
export async function readLogoutToken(token: string, keys: JWTVerifyGetKey, expected: Expected): Promise<LogoutToken> {
  const { issuer, clientId: audience, clockToleranceSeconds: clockTolerance, now } = expected;
  const options = {
    issuer,
    audience,
    algorithms,
    clockTolerance,
    currentDate: now(),
    maxTokenAge: maxAgeSeconds,
    requiredClaims: ['iat', 'jti', 'events'],
  };
  const { payload } = await jwtVerify(token, keys, options).catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const isUnanswered = code === 'ERR_JWKS_TIMEOUT' || !code.startsWith('ERR_');
    throw new OidcError(isUnanswered ? 'UNREACHABLE' : 'INVALID', `The logout token failed a check (${code}).`);
  });
  const { sub, sid, jti = '', iat = 0, events, nonce } = payload;
  const isLogout = typeof events === 'object' && events !== null && event in events;
  // An ID token must not be able to pass as a logout token.
  if (!isLogout || nonce !== undefined) throw new OidcError('INVALID', 'The token is not a logout token.');
  const subject = typeof sub === 'string' && sub !== '' ? sub : null;
  const session = typeof sid === 'string' && sid !== '' ? sid : null;
  if (subject === null && session === null) throw new OidcError('INVALID', 'The logout token names nobody.');
  const expiresAt = new Date((iat + maxAgeSeconds + 2 * clockTolerance) * 1_000);
  return { issuer, subject, sid: session, jti, expiresAt };
}
