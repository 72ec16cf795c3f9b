import { RegExpRouter } from 'hono/router/reg-exp-router';
import { SmartRouter } from 'hono/router/smart-router';
import { TrieRouter } from 'hono/router/trie-router';
import { getPath, tryDecodeURIComponent } from 'hono/utils/url';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Parameters whose values contain slashes that some clients do not encode: names of repositories and branches. */
const isOfSegments: ReadonlySet<string> = new Set(['path', 'branch_name']);

/** A route that matches a request. */
export interface RouteMatch<T> {
  readonly route: T;
  /** A path parameter, decoded; undefined if the path has none of that name. */
  readonly param: (name: string) => string | undefined;
}

/** The routes of a version, by method and path. */
export interface Routes<T> {
  /** Adds a route; `path` with `{name}` for parameters. Of several routes that match a request, the first one counts. */
  add(method: string, path: string, route: T): void;
  /** `path`: as {@link routedPath} returns it. HEAD has the routes of GET. */
  find(method: string, path: string): RouteMatch<T> | null;
  /** The methods that a path has, as the header `Allow` lists them, without OPTIONS; '' if there are none. */
  allowed(path: string): string;
}

/** Creates {@link Routes} without any route. */
export function createRoutes<T>(): Routes<T> {
  const router = new SmartRouter<T>({ routers: [new RegExpRouter(), new TrieRouter()] });
  return {
    add(method, path, route) {
      // The router sees paths without a trailing slash; an endpoint that needs the slash checks the path itself.
      const routed = path
        .replaceAll(/\{(\w+)\}/g, (_, name: string) => (isOfSegments.has(name) ? `:${name}{.+}` : `:${name}`))
        .replace(/(?<=.)\/$/, '');
      router.add(method, routed, route);
    },
    find(method, path) {
      const [[first], values] = router.match(method === 'HEAD' ? 'GET' : method, path);
      if (first === undefined) return null;
      const [route, params] = first;
      return {
        route,
        param(name) {
          const param = params[name];
          const value = typeof param === 'number' ? values?.[param] : param;
          return value === undefined ? undefined : tryDecodeURIComponent(value);
        },
      };
    },
    allowed(path) {
      const taken = methods.filter((method) => router.match(method, path)[0].length > 0);
      return taken.map((method) => (method === 'GET' ? 'GET, HEAD' : method)).join(', ');
    },
  };
}

/**
 * The path of a request as routes match it: decoded except for "%2F" and the like, and without a slash at its end, which
 * makes no difference (docs/wire/README.md#paths-and-methods).
 */
export function routedPath(path: string): string {
  const decoded = path.includes('%') ? getPath(new Request(`http://localhost${path}`)) : path;
  return decoded.length > 1 && decoded.endsWith('/') ? decoded.slice(0, -1) : decoded;
}
