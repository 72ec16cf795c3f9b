import { RefusedAddressError } from '../../common/addresses.ts';
import { providerApis } from '../../providers/model-providers.ts';
import type { ProviderCredential } from '../credential.ts';

/** The longest part of a provider's error that is read. */
const maxCharacters = 16_000;

const modelWords = /\bmodels?\b|model_not_found|no endpoints found/i;
const keyWords =
  /api[ _-]?key|API_KEY_INVALID|unauthori[sz]ed|authentication|invalid[ _-]?(token|credential)|permission_denied/i;
const accountWords =
  /insufficient[ _-]?(quota|credit|balance|fund)|credit balance|billing[ _-](hard[ _-]limit|not[ _-]active)|account is not active|payment required/i;

/**
 * Returns the failure that every further call with the key would have, by a provider's error; null: another call may
 * succeed, as after an error about one model, a limit of requests, or a fault of the provider. The text decides only
 * between meanings of the status. `text` null: it is not text. `isFirst`: no call of the run has succeeded.
 */
export function readCallFailure(
  { status, text }: { readonly status: number; readonly text: string | null },
  isFirst: boolean,
): 'KEY_REFUSED' | 'ACCOUNT_EMPTY' | 'NOT_FOUND' | null {
  const start = (text ?? '').slice(0, maxCharacters);
  if (status === 401) return 'KEY_REFUSED';
  if (status === 402) return 'ACCOUNT_EMPTY';
  // OpenAI reports an empty account with 429, Anthropic with 400, others with 403. Google's limits of requests name the
  // billing too, so only the words for an empty account count.
  if ([400, 403, 429].includes(status) && accountWords.test(start)) return 'ACCOUNT_EMPTY';
  // Google reports a wrong key with 400.
  if (status === 400)
    return /API_KEY_INVALID|API key (not valid|expired)|invalid api[ _-]?key/i.test(start) ? 'KEY_REFUSED' : null;
  if (modelWords.test(start)) return null;
  if (status === 403) return keyWords.test(start) ? 'KEY_REFUSED' : null;
  return (status === 404 || status === 405) && isFirst ? 'NOT_FOUND' : null;
}

const noAddress = 'the host has no address that the service is allowed to connect to';
/** Errors of a connection that a retry does not change. Others, such as a reset, may be over in a moment. */
const reasons: Readonly<Record<string, string>> = {
  ENOTFOUND: noAddress,
  ENODATA: noAddress,
  ECONNREFUSED: 'the connection was refused',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the host cannot be reached',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not from a known authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is not from a known authority',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
  EPROTO: 'it does not speak TLS',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS',
};

/** Returns the reason, inside a sentence, for which no connection is possible; null: a retry may succeed. */
export function readConnectionFailure(error: unknown): string | null {
  // Node tries all addresses of a host, and puts their errors into one.
  const all: unknown[] = error instanceof AggregateError ? error.errors : [error];
  for (const each of all) {
    if (each instanceof RefusedAddressError) return noAddress;
    const { code } = (each ?? {}) as { code?: unknown };
    if (typeof code === 'string' && Object.hasOwn(reasons, code)) return reasons[code] as string;
  }
  return null;
}

/** Returns the message for a failure: it names the key and the remedy. `reason`: inside a sentence, for `NOT_REACHABLE`. */
export function describeFailure(
  code: 'KEY_REFUSED' | 'ACCOUNT_EMPTY' | 'NOT_FOUND' | 'NOT_REACHABLE' | 'PRICE_UNKNOWN',
  { keyId, label, provider, baseUrl }: Pick<ProviderCredential, 'keyId' | 'label' | 'provider' | 'baseUrl'>,
  reason = '',
): string {
  const { origin, host, pathname } = new URL(baseUrl);
  const owner = provider === 'compatible' ? `The server at ${host}` : providerApis[provider].name;
  const where =
    keyId === null
      ? 'Correct it and restart the service'
      : 'Edit the key in the console (Model keys) and enter a valid one';
  const address =
    keyId === null ? 'the configuration of the service' : 'the base URL of the key in the console (Model keys)';
  const sentences = {
    KEY_REFUSED: `${owner} refuses ${label}. ${where}`,
    ACCOUNT_EMPTY: `${owner} refuses calls because the account of ${label} has no credit left. Add credit to the account, or use another key`,
    NOT_FOUND: `There is no API for the agent at ${origin}${pathname.replace(/\/+$/, '')}, the base URL of ${label}. Check ${address}`,
    NOT_REACHABLE: `The model provider at ${origin}, the base URL of ${label}, cannot be reached: ${reason}. Check ${address}, and the server`,
    PRICE_UNKNOWN: `The cost of this model is not known, and ${label} has a budget. Enter the prices of the key in the console (Model keys), remove its budget, or choose another model`,
  };
  return `${sentences[code]}, then send a message to continue the session.`;
}
