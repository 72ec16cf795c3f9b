import type { IncomingMessage } from 'node:http';
import type { Context as HonoContext } from 'hono';
import { type FastPathRequest, readIncomingBody } from '../../http/fast-path-request.ts';
import { incompleteBody, parseJsonBytes, readJson } from './request.ts';

/** Data of a request besides the request itself: the caller's network address. */
export interface RestEnv {
  readonly address: string | null;
}

/** A request, from the fast path or from the router. */
export interface RequestContext {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** The query without its "?"; '' if there is none. */
  readonly search: string;
  /** The caller's network address. */
  readonly address: string | null;
  /** A header by its lower-case name. */
  readonly header: (name: string) => string | undefined;
  /** A path parameter as it was written. */
  readonly param: (name: string) => string | undefined;
  /** The JSON of its body. 400 and 413 as {@link readJson}. */
  readonly json: () => Promise<unknown>;
  /** The Fetch API request, for rarely needed parts; on the fast path it has no body. */
  readonly request: Request;
}

/** The context of a request that came through the router. */
export function requestContextOf(c: HonoContext<{ Bindings: RestEnv }>): RequestContext {
  const request = c.req.raw;
  return {
    method: request.method,
    path: c.req.path,
    search: new URL(request.url).search.slice(1),
    address: c.env.address,
    header: (name) => c.req.header(name),
    param: (name) => c.req.param(name),
    json: () => readJson(request),
    request,
  };
}

/** The positions of a path's parameters among its segments. */
export type ParamsAt = ReadonlyMap<string, number>;

/** See {@link ParamsAt}; `path` with `{name}` for parameters. */
export function paramsOf(path: string): ParamsAt {
  const params = path.split('/').map((segment, at) => [/^\{(\w+)\}$/.exec(segment)?.[1], at] as const);
  return new Map(params.flatMap(([name, at]) => (name === undefined ? [] : [[name, at]])));
}

/** The context of a request on the fast path, where nothing needs to be decoded. */
export function fastPathContextOf(
  { method, path, search }: FastPathRequest,
  incoming: IncomingMessage,
  paramsAt: ParamsAt,
  address: string | null,
): RequestContext {
  const { headers, rawHeaders, url } = incoming;
  const segments = path.split('/');
  return {
    method,
    path,
    search,
    address,
    header: (name) => headers[name] as string | undefined,
    param: (name) => segments[paramsAt.get(name) ?? -1],
    json: async () => parseJsonBytes(await readIncomingBody(incoming).catch(refuseIncompleteBody)),
    get request() {
      const requestHeaders = new Headers();
      for (let n = 0; n < rawHeaders.length; n += 2)
        requestHeaders.append(rawHeaders[n] as string, rawHeaders[n + 1] as string);
      return new Request(`http://${headers.host}${url}`, { method, headers: requestHeaders });
    },
  };
}

function refuseIncompleteBody(error: unknown): never {
  throw incompleteBody(error);
}
