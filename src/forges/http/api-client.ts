import { z } from 'zod';
import { parseUrl } from '../../common/parse-url.ts';
import { invalidResponse } from '../interface/errors.ts';
import type { ForgeHttp, HttpResponse } from './forge-http.ts';
import { createResponseCache } from './response-cache.ts';
import { type CallContext, checkShape, errorOf, parseJson } from './responses.ts';

/** A call of a forge's REST API. */
export interface ApiCall {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the base URL. Callers encode its parts. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** For errors: what the call does, beginning with a verb. */
  readonly action: string;
  /** For errors: the permission that it needs. */
  readonly permission?: string;
}

/** A response with its headers. */
export interface ApiResponse<T> {
  readonly data: T;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** The items of several pages. */
export interface ApiList<T> {
  readonly items: readonly T[];
  readonly isTruncated: boolean;
}

/** Options of a client. */
export interface ApiClientOptions {
  readonly http: ForgeHttp;
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Returns the headers with the credential. */
  authorize(): Promise<Readonly<Record<string, string>>>;
  /** The host for messages; that of the base URL may be another. */
  readonly host: string;
  /** Returns the texts to mask in what the forge sends: it might repeat what it received. */
  secrets(): readonly string[];
  readonly now: () => number;
  /** For errors: a sentence for people about a credential that the forge refuses. */
  readonly refusalAdvice?: string;
  readonly timeoutMs?: number | undefined;
}

/** A client of a forge's REST API. All methods reject with ForgeError. */
export interface ApiClient {
  readonly host: string;
  call<T>(schema: z.ZodType<T>, call: ApiCall): Promise<ApiResponse<T>>;
  /** Sends a request whose response has no content of interest. */
  send(call: ApiCall): Promise<void>;
  /** Reads pages until `max` items, by numbered pages of `size`. Leaves out invalid items, like {@link validItems}. */
  list<T>(item: z.ZodType<T>, call: ApiCall & ListOptions): Promise<ApiList<T>>;
  /** Reads a text of at most `maxBytes`. */
  text(call: ApiCall, maxBytes: number): Promise<string>;
  /** Reads the last bytes of a text. Follows one redirect to a public host, without the credential. */
  tail(call: ApiCall, bytes: number): Promise<{ readonly text: string; readonly isTail: boolean }>;
}

/** Options of a list. */
export interface ListOptions {
  readonly max: number;
  readonly size: number;
  /** The name of the property with the items, for pages that are not arrays. */
  readonly property?: string;
  /** The name of the parameter for the size of a page; `per_page` if omitted. */
  readonly sizeName?: string;
}

const defaultTimeoutMs = 20_000;
const maxBytes = 4 * 1024 * 1024;
const maxCachedBytes = 2 * 1024 * 1024;
const maxRedirects = 3;
const redirects: ReadonlySet<number> = new Set([301, 302, 307, 308]);

/**
 * Creates a client that follows redirects of the forge's own origin only, for reads, so that the credential reaches no other
 * host; reads bounded responses; and repeats no request, except on a redirect.
 */
export function createApiClient(options: ApiClientOptions): ApiClient {
  const { http, baseUrl, host, now, timeoutMs = defaultTimeoutMs } = options;
  const { origin } = new URL(baseUrl);
  const cache = createResponseCache(maxCachedBytes);
  const mask = (text: string) => options.secrets().reduce((rest, each) => rest.replaceAll(each, '********'), text);
  const contextOf = (call: ApiCall): CallContext => {
    const { refusalAdvice = null } = options;
    return { host, action: call.action, permission: call.permission ?? null, refusalAdvice, mask, now };
  };

  async function request(call: ApiCall, limit: { limit: number } | { tail: number }, accept?: string) {
    const method = call.method ?? 'GET';
    let url = urlOf(baseUrl, call);
    const headers = {
      ...options.headers,
      ...(accept !== undefined && { accept }),
      ...call.headers,
      ...(call.body !== undefined && { 'content-type': 'application/json' }),
      ...(await options.authorize()),
    };
    for (let count = 0; ; count++) {
      const cached = method === 'GET' && 'limit' in limit && accept === undefined ? cache.get(url.href) : undefined;
      const response = await http.send({
        method,
        url,
        headers: { ...headers, ...(cached && { 'if-none-match': cached.etag }) },
        body: call.body === undefined ? undefined : JSON.stringify(call.body),
        timeoutMs,
        keep: limit,
        network: 'any',
      });
      if (response.status === 304 && cached) {
        return { ...response, status: 200, body: cached.body, headers: { ...response.headers, link: cached.link } };
      }
      if (!redirects.has(response.status)) {
        const etag = response.headers.etag;
        if (response.status === 200 && method === 'GET' && accept === undefined && etag && etag.length <= 200) {
          cache.set(url.href, { etag, body: response.body, link: response.headers.link });
        }
        return response;
      }
      const target = parseUrl(response.headers.location ?? '', url);
      if (target?.origin !== origin) {
        if (!('tail' in limit) || !target) throw invalidResponse(host, 'it redirects to another host');
        return await followElsewhere(target, limit);
      }
      if (method !== 'GET' || count >= maxRedirects) throw invalidResponse(host, 'it redirects too often');
      url = target;
    }
  }

  // Logs are in an object store with signed URLs. The address is the forge's choice, so only public ones are followed.
  async function followElsewhere(url: URL, keep: { tail: number }): Promise<HttpResponse> {
    if (url.protocol !== 'https:') throw invalidResponse(host, 'it redirects to another host without https');
    return await http.send({ method: 'GET', url, headers: {}, timeoutMs, keep, network: 'public' });
  }

  async function succeed(call: ApiCall, limit: { limit: number } | { tail: number }, accept?: string) {
    const response = await request(call, limit, accept);
    if (response.status < 200 || response.status >= 300) throw errorOf(response, contextOf(call));
    return response;
  }

  const client: ApiClient = {
    host,
    async call(schema, call) {
      const { body, headers } = await succeed(call, { limit: maxBytes });
      const text = mask(new TextDecoder().decode(body));
      return { data: checkShape(schema, parseJson(text, host), host), headers };
    },
    async send(call) {
      await succeed(call, { limit: maxBytes });
    },
    async list<T>(
      item: z.ZodType<T>,
      { max, size, property, sizeName = 'per_page', ...call }: ApiCall & ListOptions,
    ): Promise<ApiList<T>> {
      const page = z.unknown().array().max(1_000);
      const schema =
        property === undefined
          ? page
          : z.object({ [property]: page.nullish() }).transform((data) => data[property] ?? []);
      const items: T[] = [];
      let count = 0;
      // The number of requests is bounded by `max`, however many pages the forge claims to have.
      for (let number = 1; number <= Math.ceil(max / size); number++) {
        const query = { ...call.query, [sizeName]: size, page: number };
        const { data, headers } = await client.call(schema, { ...call, query });
        items.push(...validItems(item, data));
        count += data.length;
        const hasNext = headers.link === undefined ? data.length >= size : /rel="?next/.test(headers.link);
        if (!hasNext || data.length === 0) return { items: items.slice(0, max), isTruncated: count > max };
      }
      return { items: items.slice(0, max), isTruncated: true };
    },
    async text(call, limit) {
      const { body } = await succeed(call, { limit }, call.headers?.accept ?? '*/*');
      return mask(new TextDecoder().decode(body));
    },
    async tail(call, bytes) {
      const { body, isTail } = await succeed(call, { tail: bytes }, call.headers?.accept ?? '*/*');
      return { text: mask(new TextDecoder().decode(body)), isTail };
    },
  };
  return client;
}

/**
 * Returns the items that are valid. In lists, an invalid item is left out: a stranger could otherwise hide a whole list, for example
 * with a pull request from a branch whose name is an option.
 */
export function validItems<T>(item: z.ZodType<T>, items: readonly unknown[]): T[] {
  return items.flatMap((each) => {
    const { success, data } = item.safeParse(each);
    return success ? [data] : [];
  });
}

/** The schema of a list whose invalid items are left out. */
export const listOf = <T>(item: z.ZodType<T>): z.ZodType<T[]> =>
  z
    .unknown()
    .array()
    .max(1_000)
    .transform((items) => validItems(item, items));

function urlOf(baseUrl: string, { path, query = {} }: ApiCall): URL {
  const url = new URL(`${baseUrl}${path}`);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}
