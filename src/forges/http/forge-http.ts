import type { LookupFunction } from 'node:net';
import { type Dispatcher, request } from 'undici';
import { RefusedAddressError } from '../../common/addresses.ts';
import { createCheckedAgent } from '../../common/checked-agent.ts';
import { errorsWithin } from '../../common/errors-within.ts';
import { isTlsMissing } from '../../common/missing-tls.ts';
import { causedBy, ForgeError, invalidResponse } from '../interface/errors.ts';

/** A request to a forge. */
export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly timeoutMs: number;
  /** `limit`: a longer body is an error. `tail`: the last bytes are returned. */
  readonly keep: { readonly limit: number } | { readonly tail: number };
  /** `any`: private networks too, for the host of the connection. `public`: for addresses that a forge named. */
  readonly network: 'any' | 'public';
}

/** The response, read completely. */
export interface HttpResponse {
  readonly status: number;
  /** The first value of each header, with lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
  /** True if `body` is the end of a longer body. */
  readonly isTail: boolean;
}

/** Sends requests to forges. */
export interface ForgeHttp {
  /** Follows no redirect. Rejects with UNREACHABLE or INVALID_RESPONSE. */
  send(request: HttpRequest): Promise<HttpResponse>;
  /** Aborts the requests that are under way. */
  close(): Promise<void>;
}

/** Maximum wait for a connection, for headers, and for each part of a body. Each request has a limit for all of it. */
const timeoutMs = 30_000;
/** Maximum length of a body of which only the tail is kept, in bytes. */
const maxStreamedBytes = 200 * 1024 * 1024;

/** Options of {@link createForgeHttp}. */
export interface ForgeHttpOptions {
  readonly lookup?: LookupFunction | undefined;
  /** True if connections may use http, which the error of a server without TLS then proposes. */
  readonly allowHttp?: boolean | undefined;
}

/**
 * Creates a {@link ForgeHttp}. It never connects to link-local addresses, nor to the addresses where clouds provide the
 * credentials of a machine.
 */
export function createForgeHttp(options: ForgeHttpOptions = {}): ForgeHttp {
  const agents = {
    any: createCheckedAgent({ allowPrivate: true, timeoutMs, lookup: options.lookup }),
    public: createCheckedAgent({ allowPrivate: false, timeoutMs, lookup: options.lookup }),
  };
  return {
    async send({ method, url, headers, body, timeoutMs: totalMs, keep, network }) {
      const signal = AbortSignal.timeout(totalMs);
      const { host } = url;
      try {
        const response = await request(url, {
          method: method as Dispatcher.HttpMethod,
          headers: { 'user-agent': 'switchyard', ...headers },
          ...(body !== undefined && { body }),
          dispatcher: agents[network],
          signal,
        });
        const read =
          'limit' in keep ? await readLimited(response, keep.limit, host) : await readTail(response, keep.tail);
        return { status: response.statusCode, headers: flatHeaders(response.headers), ...read };
      } catch (error) {
        if (error instanceof ForgeError) throw error;
        if (isTlsMissing(error)) {
          const advice =
            options.allowHttp === true ? ' If it is a server without TLS, enter its host with "http://".' : '';
          throw causedBy(error, 'UNREACHABLE', `${host} does not answer with TLS.${advice}`);
        }
        const reason = signal.aborted ? `sent no complete response within ${totalMs / 1_000} seconds` : reasonOf(error);
        throw causedBy(error, 'UNREACHABLE', `${host} ${reason}.`);
      }
    },
    close: async () => void (await Promise.all([agents.any.destroy(), agents.public.destroy()])),
  };
}

async function readLimited({ body, headers }: Dispatcher.ResponseData, limit: number, host: string) {
  const parts: Uint8Array[] = [];
  let length = 0;
  body.on('error', () => undefined);
  for await (const part of body) {
    length += part.length;
    if (length > limit) {
      body.destroy();
      throw invalidResponse(host, `it is longer than ${limit} bytes`);
    }
    parts.push(part);
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') throw invalidResponse(host, 'it is compressed');
  return { body: Buffer.concat(parts), isTail: false };
}

async function readTail({ body }: Dispatcher.ResponseData, tail: number) {
  let parts: Uint8Array[] = [];
  let kept = 0;
  let total = 0;
  body.on('error', () => undefined);
  for await (const part of body) {
    parts.push(part);
    kept += part.length;
    total += part.length;
    if (kept > 2 * tail) {
      parts = [Buffer.concat(parts).subarray(-tail)];
      kept = tail;
    }
    if (total > maxStreamedBytes) body.destroy();
  }
  return { body: Buffer.concat(parts).subarray(-tail), isTail: total > tail };
}

const flatHeaders = (headers: Dispatcher.ResponseData['headers']) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]));

const reasons: Readonly<Record<string, string>> = {
  ENOTFOUND: 'has no address',
  EAI_AGAIN: 'has no address that could be found now',
  ECONNREFUSED: 'refused the connection',
  ECONNRESET: 'closed the connection',
  EHOSTUNREACH: 'cannot be reached on the network',
  ENETUNREACH: 'cannot be reached on the network',
  UND_ERR_SOCKET: 'closed the connection',
  UND_ERR_CONNECT_TIMEOUT: 'did not accept a connection in time',
  UND_ERR_HEADERS_TIMEOUT: 'sent no response in time',
  UND_ERR_HEADERS_OVERFLOW: 'sent headers that are too long',
  CERT_HAS_EXPIRED: 'has a certificate that has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'has a self-signed certificate; add it to NODE_EXTRA_CA_CERTS',
  SELF_SIGNED_CERT_IN_CHAIN: 'has a certificate of an unknown authority; add it to NODE_EXTRA_CA_CERTS',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'has a certificate of an unknown authority; add it to NODE_EXTRA_CA_CERTS',
  ERR_TLS_CERT_ALTNAME_INVALID: 'has a certificate for another name',
};

// Messages of errors contain addresses, so only known reasons are shown.
function reasonOf(error: unknown): string {
  for (const each of errorsWithin(error)) {
    if (each instanceof RefusedAddressError) return 'has no address that this service may connect to';
    if (each.name === 'HTTPParserError') return 'did not answer with HTTP';
    const { code } = each as { code?: unknown };
    if (typeof code === 'string' && Object.hasOwn(reasons, code)) return reasons[code] as string;
  }
  return 'could not be reached';
}
