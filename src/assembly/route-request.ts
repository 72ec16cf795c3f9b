import type { createConsole } from '../api/console/console-app.ts';
import type { createGraphql } from '../api/graphql/server.ts';
import type { createOauth } from '../api/oauth/oauth-app.ts';
import type { createRest } from '../api/rest/router.ts';
import type { Config } from '../config/config.ts';
import { type Reply, textReply } from '../http/reply.ts';
import type { RequestView } from '../http/request-view.ts';
import type { createReadiness } from './readiness.ts';
import { optionsReply, welcome } from './service-pages.ts';

/** The APIs of a process, and what the pages of the service itself need. */
export interface RoutedParts {
  readonly rest: ReturnType<typeof createRest>;
  readonly web: ReturnType<typeof createConsole>;
  readonly graphql: ReturnType<typeof createGraphql>;
  readonly oauth: ReturnType<typeof createOauth>;
  readonly readiness: ReturnType<typeof createReadiness>;
  /** The address that the welcome page shows. */
  readonly baseUrl: () => string;
}

/** Creates the function that passes a request to the API, or the page, that its path belongs to. */
export function createRequestRouter(config: Config, { rest, web, graphql, oauth, readiness, baseUrl }: RoutedParts) {
  return async (request: RequestView): Promise<Reply> => {
    const { path } = request;
    const isOptions = request.method === 'OPTIONS';
    if (isOptions && ['/', '/healthz', '/readyz'].includes(path)) return optionsReply('GET, HEAD, OPTIONS');
    if (path === '/healthz') return textReply(200, 'ok');
    if (path === '/readyz') return textReply(...(await readiness.check()));
    if (!config.roles.includes('api'))
      return textReply(404, 'This process does not serve the API: its ROLES lack "api".');
    if (isOptions && path === '/graphql') return optionsReply('GET, POST, OPTIONS');
    if (isOptions && path === '/graphql/stream') return optionsReply('GET, POST, PUT, DELETE, OPTIONS');
    if (path === '/graphql' || path.startsWith('/graphql/')) return graphql.respond(request);
    const ownReply = web.respond(request) ?? oauth(request);
    if (ownReply !== null) return ownReply;
    if (path === '/') return textReply(200, welcome(baseUrl()));
    const reply = await rest.respond(request);
    return reply.status === 404 ? ((await web.missing(request)) ?? reply) : reply;
  };
}
