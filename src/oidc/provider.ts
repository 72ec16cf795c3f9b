import { createRemoteJWKSet, customFetch as jwksFetch } from 'jose';
import * as client from 'openid-client';
import { limitedFetch } from '../common/limited-fetch.ts';
import { OidcError } from './errors.ts';
import { type Identity, readIdentity } from './identity.ts';
import { type LogoutToken, readLogoutToken } from './logout-token.ts';
import type { OidcSettings } from './settings.ts';

/** Time for which the metadata of a provider is used again. */
const metadataMs = 10 * 60 * 1_000;
/** Time for which a failed read of the metadata is not repeated. */
const failedMs = 2_000;
const timeoutSeconds = 10;
/** Sends a request of the library. A response of a provider has at most 1 MiB. */
const fetchLimited = limitedFetch(1_048_576);

/** The values of one sign-in that only this service knows, and the address to which the provider returns. */
export interface SignInSecrets {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** An identity provider that speaks OpenID Connect. Its methods reject with an {@link OidcError}. */
export interface OidcProvider {
  readonly settings: Omit<OidcSettings, 'clientSecret'>;
  /** Returns the address at which a browser signs in. `isFresh`: the user must enter the credentials again. */
  authorizationAddress(secrets: SignInSecrets, isFresh: boolean): Promise<string>;
  /** Exchanges the parameters with which the browser came back for the identity of the user. Keeps no token. */
  readIdentity(secrets: SignInSecrets, parameters: URLSearchParams): Promise<Identity>;
  /** Reads and checks a token of a back-channel logout. */
  readLogoutToken(token: string): Promise<LogoutToken>;
  /** Returns the address that ends the session at the provider and then leads to `returnTo`; null: it has none. */
  signOutAddress(returnTo: string): Promise<string | null>;
  /** Reads the metadata and the keys of the provider. */
  check(): Promise<void>;
}

/** See {@link OidcProvider}. */
export function createOidcProvider(settings: OidcSettings, now: () => Date): OidcProvider {
  const { issuer, clientId, clientSecret, clockToleranceSeconds, ...shown } = settings;
  let metadata: { readonly read: Promise<client.ServerMetadata>; readonly until: number } | null = null;
  let keys: { readonly uri: string; readonly set: ReturnType<typeof createRemoteJWKSet> } | null = null;

  const readMetadata = (): Promise<client.ServerMetadata> => {
    if (metadata !== null && performance.now() < metadata.until) return metadata.read;
    const read = discover(settings);
    const entry = { read, until: performance.now() + metadataMs };
    metadata = entry;
    read.catch(() => {
      if (metadata === entry) metadata = { read, until: performance.now() + failedMs };
    });
    return read;
  };
  // A configuration caches the keys of its provider. One for each sign-in sees keys that were rotated since.
  const configure = async () => {
    const server = await readMetadata();
    const clientMetadata = {
      [client.clockTolerance]: clockToleranceSeconds,
      [client.clockSkew]: Math.round((now().getTime() - Date.now()) / 1_000),
    };
    return prepare(
      new client.Configuration(server, clientId, clientMetadata, authenticationOf(server, clientSecret)),
      issuer,
    );
  };
  const readKeys = async () => {
    const server = await readMetadata();
    const uri = server.jwks_uri;
    if (uri === undefined) throw new OidcError('UNREACHABLE', 'The metadata has no "jwks_uri".');
    if (keys?.uri !== uri) {
      const options = { timeoutDuration: timeoutSeconds * 1_000, [jwksFetch]: fetchLimited };
      keys = { uri, set: createRemoteJWKSet(new URL(uri), options) };
    }
    return keys.set;
  };

  return {
    settings: { ...shown, issuer, clientId, clockToleranceSeconds },
    async authorizationAddress({ redirectUri, state, nonce, verifier }, isFresh) {
      const config = await configure();
      return client.buildAuthorizationUrl(config, {
        'redirect_uri': redirectUri,
        scope: settings.scopes.join(' '),
        state,
        nonce,
        'code_challenge': await client.calculatePKCECodeChallenge(verifier),
        'code_challenge_method': 'S256',
        ...(isFresh && { prompt: 'login', 'max_age': '0' }),
      }).href;
    },
    async readIdentity({ redirectUri, state, nonce, verifier }, parameters) {
      const config = await configure();
      const address = new URL(redirectUri);
      address.search = parameters.toString();
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier };
      const tokens = await client.authorizationCodeGrant(config, address, checks).catch(asOidcError);
      const claims = tokens.claims();
      if (claims === undefined) throw new OidcError('INVALID', 'The answer has no ID token.');
      return readIdentity({ ...settings, now }, claims, (subject) =>
        client.fetchUserInfo(config, tokens.access_token, subject).catch(asOidcError),
      );
    },
    async readLogoutToken(token) {
      const keySet = await readKeys();
      const { issuer: exactIssuer } = await readMetadata();
      return readLogoutToken(token, keySet, { issuer: exactIssuer, clientId, clockToleranceSeconds, now });
    },
    async signOutAddress(returnTo) {
      const config = await configure();
      if (config.serverMetadata().end_session_endpoint === undefined) return null;
      return client.buildEndSessionUrl(config, { 'post_logout_redirect_uri': returnTo }).href;
    },
    async check() {
      const server = await readMetadata();
      const missing = (['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const).filter(
        (name) => server[name] === undefined,
      );
      if (missing.length > 0) throw new OidcError('UNREACHABLE', `The metadata lacks ${missing.join(', ')}.`);
      const set = await readKeys();
      await set.reload().catch(asOidcError);
    },
  };
}

async function discover({ issuer, clientId }: OidcSettings): Promise<client.ServerMetadata> {
  const execute = issuer.startsWith('http:') ? [client.allowInsecureRequests] : [];
  const options = { timeout: timeoutSeconds, execute, [client.customFetch]: fetchLimited };
  const found = await client
    .discovery(new URL(issuer), clientId, undefined, client.None(), options)
    .catch((error: unknown) => {
      throw new OidcError('UNREACHABLE', `The metadata cannot be read: ${describe(error)}`);
    });
  const { supportsPKCE: _helper, ...server } = found.serverMetadata();
  return server;
}

function prepare(config: client.Configuration, issuer: string): client.Configuration {
  config.timeout = timeoutSeconds;
  config[client.customFetch] = fetchLimited;
  if (issuer.startsWith('http:')) client.allowInsecureRequests(config);
  // By default, the library trusts the TLS connection to the token endpoint instead of the signature.
  client.enableNonRepudiationChecks(config);
  return config;
}

function authenticationOf(server: client.ServerMetadata, secret: string | null): client.ClientAuth {
  if (secret === null) return client.None();
  // Without this member, a provider takes the secret in the header (OpenID Connect Discovery, section 3).
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  return methods.includes('client_secret_basic') ? client.ClientSecretBasic(secret) : client.ClientSecretPost(secret);
}

function asOidcError(error: unknown): never {
  if (error instanceof client.AuthorizationResponseError) throw new OidcError('DENIED', describe(error));
  // The provider answered, and refuses the code or the client.
  if (error instanceof client.ResponseBodyError) throw new OidcError('INVALID', describe(error));
  const code = error instanceof Error && 'code' in error ? error.code : null;
  const isUnanswered =
    error instanceof TypeError || code === 'OAUTH_TIMEOUT' || code === 'OAUTH_RESPONSE_IS_NOT_CONFORM';
  throw new OidcError(isUnanswered ? 'UNREACHABLE' : 'INVALID', describe(error));
}

/** Returns the kind of an error for the log. Causes hold tokens and are left out. */
function describe(error: unknown): string {
  if (error instanceof client.AuthorizationResponseError || error instanceof client.ResponseBodyError) {
    return `${error.message} (${error.error.slice(0, 100)})`;
  }
  if (!(error instanceof Error)) return 'unknown error';
  const { cause } = error;
  const reason = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
  return `${error.message.slice(0, 300)}${reason}`;
}
