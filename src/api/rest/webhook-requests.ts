import { DomainError } from '../../common/errors.ts';
import type { Services } from '../../domain/context.ts';
import { asRefusal } from '../../domain/unavailable.ts';
import type { Reply } from '../../http/reply.ts';
import type { RequestView } from '../../http/request-view.ts';
import { RequestError, refusalOf } from './refusal.ts';
import { dialect as v3 } from './v3/dialect.ts';

/** The methods that a webhook takes. */
export const allow = 'POST, OPTIONS';

/** Returns the id in the path of a webhook; null for an OPTIONS request. 404 for another path, 405 for another method. */
export function requirePost(request: RequestView, kind: 'automations' | 'git'): string | null {
  const [, found, id] = /^\/webhooks\/([^/]+)\/([^/]+)\/?$/.exec(request.path) ?? [];
  if (id === undefined || found !== kind) throw new RequestError(v3.unknownRoute, { status: 404 });
  if (request.method === 'POST') return id;
  if (request.method === 'OPTIONS') return null;
  throw new RequestError('Method not allowed: a webhook accepts POST.', { status: 405, headers: { allow } });
}

/** Refuses a compressed body with 415. */
export function requireNoEncoding(request: RequestView): void {
  const encoding = request.header('content-encoding')?.trim() ?? '';
  if (encoding === '' || encoding.toLowerCase() === 'identity') return;
  const message = `A webhook does not accept compressed bodies, but the Content-Encoding was ${JSON.stringify(encoding.slice(0, 80))}.`;
  throw new RequestError(message, { status: 415, headers: { 'accept-encoding': 'identity' } });
}

/** Converts an error to a problem of version 3. `noWebhook`: the refusal of a webhook that was deleted in the meantime. */
export function refuseWebhook(
  { log }: Services,
  thrown: unknown,
  { id, path }: RequestView,
  noWebhook: () => RequestError,
): Reply {
  const error = asRefusal(thrown);
  const noParameters = { query: new Set<string>(), path: new Set<string>() };
  if (error instanceof DomainError) {
    return v3.problem(error.code === 'NOT_FOUND' ? noWebhook() : refusalOf(error, v3, noParameters), path);
  }
  if (error instanceof RequestError) {
    const { status, message, issues, headers } = error;
    return v3.problem({ status, message, issues, headers }, path);
  }
  log.error({ err: error, requestId: id, path }, 'A webhook that arrived failed unexpectedly.');
  return v3.problem({ status: 500, message: 'Something went wrong', issues: [] }, path);
}
