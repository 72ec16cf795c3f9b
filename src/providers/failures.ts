/** The ways in which a provider fails, with their meanings for users. */
export const providerFailures = {
  KEY_REFUSED: 'The provider refuses the key.',
  ACCOUNT_EMPTY: 'The account of the key has no credit left, or has reached its limit.',
  RATE_LIMITED: 'The provider refuses requests for now because there were too many.',
  NOT_FOUND: 'The base URL does not lead to the API of a model provider.',
  NOT_REACHABLE: 'No connection to the base URL is possible or allowed.',
  PROVIDER_ERROR: 'The provider answers with an error of its own.',
  UNEXPECTED_ANSWER: 'The base URL answers, but not as a model provider.',
} as const;

/** A key of {@link providerFailures}. */
export type ProviderFailureCode = keyof typeof providerFailures;

/** An answer of a provider, or its beginning. */
export interface ProviderAnswer {
  readonly statusCode: number;
  readonly body: string;
}

const keyWords = /api[ _-]?key|invalid[ _-]?(?:auth|token|credential)|unauthori[sz]ed|authentication/i;
const accountWords =
  /insufficient[ _-]?(?:quota|credit|balance|fund)|credit balance|billing|payment required|exceeded your current quota/i;

/**
 * Returns the failure that an answer of a provider means; null for a success. The text of an answer only decides between
 * meanings of its status: it is never passed on, since it may contain the key.
 */
export function failureOfAnswer({ statusCode, body }: ProviderAnswer): ProviderFailureCode | null {
  if (statusCode >= 200 && statusCode < 300) return null;
  if (statusCode === 402) return 'ACCOUNT_EMPTY';
  if (statusCode === 401) return 'KEY_REFUSED';
  // OpenAI and Anthropic report an empty account as 429, 400 or 403, and Google a wrong key as 400.
  const isAboutAccount = accountWords.test(body);
  if (statusCode === 429) return isAboutAccount ? 'ACCOUNT_EMPTY' : 'RATE_LIMITED';
  if (statusCode === 403) return isAboutAccount ? 'ACCOUNT_EMPTY' : 'KEY_REFUSED';
  if (statusCode === 400 && isAboutAccount) return 'ACCOUNT_EMPTY';
  if (statusCode === 400 && keyWords.test(body)) return 'KEY_REFUSED';
  if (statusCode === 404 || statusCode === 405 || (statusCode >= 300 && statusCode < 400)) return 'NOT_FOUND';
  return statusCode >= 500 ? 'PROVIDER_ERROR' : 'UNEXPECTED_ANSWER';
}
