import type { createConsole } from '../api/console/console-app.ts';
import type { createGraphql } from '../api/graphql/server.ts';
import type { createRest } from '../api/rest/router.ts';
import type { Config } from '../config/config.ts';
import { destroySocket } from '../http/destroy-socket.ts';
import type { createReadiness } from './readiness.ts';
import { optionsResponse, plainText, welcome } from './service-pages.ts';

/** The APIs of a process, and what the pages of the service itself need. */
export interface RoutedParts {
  readonly rest: ReturnType<typeof createRest>;
  readonly web: ReturnType<typeof createConsole>;
  readonly graphql: ReturnType<typeof createGraphql>;
  readonly readiness: ReturnType<typeof createReadiness>;
  /** The address that the welcome page shows. */
  readonly baseUrl: () => string;
}

/** Creates the function that passes a request to the API, or the page, that its path belongs to. `address` is the caller's. */
export function createRequestRouter(config: Config, { rest, web, graphql, readiness, baseUrl }: RoutedParts) {
  return async (request: Request, address: string | null): Promise<Response> => {
    const { pathname } = new URL(request.url);
    const isOptions = request.method === 'OPTIONS';
    if (isOptions && ['/', '/healthz', '/readyz'].includes(pathname)) return optionsResponse('GET, HEAD, OPTIONS');
    if (pathname === '/healthz') return plainText(200, 'ok');
    if (pathname === '/readyz') return plainText(...(await readiness.check()));
    if (!config.roles.includes('api'))
      return plainText(404, 'This process does not serve the API: its ROLES lack "api".');
    if (isOptions && pathname === '/graphql') return optionsResponse('GET, POST, OPTIONS');
    if (isOptions && pathname === '/graphql/stream') return optionsResponse('GET, POST, PUT, DELETE, OPTIONS');
    if (pathname === '/graphql' || pathname.startsWith('/graphql/'))
      return graphql.fetch(request, { address, cut: () => destroySocket(request) });
    const consoleResponse = await web.fetch(request, { address });
    if (consoleResponse) return consoleResponse;
    if (pathname === '/') return plainText(200, welcome(baseUrl()));
    const response = await rest.fetch(request, { address });
    return response.status === 404 ? ((await web.missing(request)) ?? response) : response;
  };
}
