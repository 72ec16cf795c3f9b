import { UnavailableError } from '../common/errors.ts';
import { asRefusal } from '../domain/unavailable.ts';
import { Reply, textReply } from '../http/reply.ts';

/** The response to an error of a page: 503 in an outage. Rethrows any other error. */
export function outagePage(error: unknown): Reply {
  const refusal = asRefusal(error);
  if (!(refusal instanceof UnavailableError)) throw error;
  const headers = { 'retry-after': String(refusal.retryAfterSeconds), 'cache-control': 'no-store' };
  return textReply(503, refusal.message, headers);
}

/** The answer to OPTIONS: the allowed methods. */
export function optionsReply(allow: string): Reply {
  return new Reply(204, { allow });
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
