import type { Store } from './store/store.ts';

/** Returns the status and text of /readyz. */
export async function readiness(store: Store, isReady: boolean): Promise<[number, string]> {
  if (!isReady) return [503, 'starting or stopping'];
  return store.ping().then(
    () => [200, 'ready'],
    () => [503, 'the database does not answer'],
  );
}

/** A plain-text answer of one line. */
export function plain(status: number, text: string): Response {
  return new Response(`${text}\n`, { status, headers: { 'content-type': 'text/plain; charset=utf-8' } });
}

/** The answer to OPTIONS: the allowed methods. */
export function allowing(allow: string): Response {
  return new Response(null, { status: 204, headers: { allow } });
}

/** The text at / for clients that are not browsers. */
export function welcome(baseUrl: string): string {
  return [
    'Switchyard, the open agent session service.',
    '',
    `Console, for browsers: ${baseUrl}/`,
    `GraphQL, with an explorer for browsers: ${baseUrl}/graphql`,
    `REST: ${baseUrl}/v1, ${baseUrl}/v2 and ${baseUrl}/v3, described at ${baseUrl}/openapi`,
    `Health: ${baseUrl}/healthz and ${baseUrl}/readyz`,
  ].join('\n');
}
