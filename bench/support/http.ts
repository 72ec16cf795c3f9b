import { isDeepStrictEqual } from 'node:util';
import type { HttpRequest } from './load.ts';

/** A GraphQL operation as a request. */
export function graphqlRequest(token: string, query: string, variables: object): HttpRequest {
  return {
    method: 'POST',
    path: '/graphql',
    headers: { 'authorization': `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  };
}

/** A GET request, with a token if needed. */
export function getRequest(path: string, token?: string): HttpRequest {
  return { method: 'GET', path, headers: token === undefined ? {} : { authorization: `Bearer ${token}` } };
}

/** Sends one request and returns the parsed response. Throws on any status other than 200, and on GraphQL errors. */
export async function askOnce(url: string, { method, path, headers, body }: HttpRequest): Promise<any> {
  const answer = await fetch(`${url}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${method} ${path} gave ${answer.status}: ${text.slice(0, 1_000)}`);
  const parsed = JSON.parse(text);
  if (parsed?.errors)
    throw new Error(`${method} ${path} gave errors: ${JSON.stringify(parsed.errors).slice(0, 1_000)}`);
  return parsed;
}

/** Checks that a baseline returns what the service returns. Throws with the position of the first difference. */
export function requireSame(what: string, ours: unknown, baseline: unknown): void {
  if (isDeepStrictEqual(ours, baseline)) return;
  const [a = '', b = ''] = [JSON.stringify(ours), JSON.stringify(baseline)];
  const at = [...a].findIndex((letter, n) => letter !== b[n]);
  const near = (text: string) => text.slice(Math.max(0, at - 100), at + 100);
  throw new Error(`The baseline gives another answer than the service for ${what}: ${near(b)} instead of ${near(a)}`);
}
