import { resolve } from 'node:path';
import type { z } from 'zod';
import { parseUrl } from '../common/parse-url.ts';
import { flag, integer, optionalFlag, origins, perMinute, text, trustedProxies, url } from './forms.ts';

/** Variables for the HTTP server and for the limits on its callers. */
export const httpVariables = {
  /** The address to listen on. */
  HOST: text().default('127.0.0.1'),
  /** The port to listen on; 0 takes a free one. */
  PORT: integer({ min: 0, max: 65_535 }).default(4_000),
  /** The start of each `url` field; the address of this process by default. */
  BASE_URL: url(['http', 'https']).optional(),
  /** A file with the identity providers with which users sign in to the console. */
  OIDC_PROVIDERS: text().optional(),
  /** The proxies that may name the caller in X-Forwarded-For. */
  TRUST_PROXY: trustedProxies().default(0),
  /** The lifetime of an idle connection. A proxy in front must close its connections earlier. */
  KEEP_ALIVE_SECONDS: integer({ min: 1, max: 3_600 }).default(130),
  /** The origins whose pages may call the service from a browser; none by default. */
  CORS_ORIGINS: origins().optional(),
  /** REST requests of one key in a minute. */
  RATE_LIMIT_REST: perMinute(600),
  /** Points of one key's GraphQL operations in a minute. */
  RATE_LIMIT_GRAPHQL: perMinute(60_000),
  /** Invalid tokens from one address in a minute. */
  RATE_LIMIT_LOGIN: perMinute(30),
  /** Deliveries to the incoming webhook of one automation in a minute. */
  RATE_LIMIT_WEBHOOK: perMinute(300),
  /** Webhooks of a forge to one git connection in a minute. */
  RATE_LIMIT_GIT_WEBHOOK: perMinute(3_000),
  /** Requests to model providers and to forges that one principal causes in a minute, by tests and lists. */
  RATE_LIMIT_PROVIDER: perMinute(30),
  /** Allows webhooks to private networks and over http. */
  WEBHOOK_ALLOW_PRIVATE: flag(false),
  /** Allows provider keys for servers in private networks and over http; by default only on a computer of one user. */
  PROVIDER_ALLOW_PRIVATE: optionalFlag(),
  /** Allows git connections over http, for forges on a trusted network. */
  GIT_ALLOW_HTTP: flag(false),
  /** WebSockets and event streams that one principal may have open in this process. */
  MAX_SOCKETS: integer({ min: 1, max: 100_000 }).default(100),
  /** Connections that this process has open at once. */
  MAX_CONNECTIONS: integer({ min: 1, max: 1_000_000 }).default(10_000),
  /** The same from one address (of IPv6: one /64); not counted behind a proxy that TRUST_PROXY names. */
  MAX_CONNECTIONS_PER_ADDRESS: integer({ min: 1, max: 1_000_000 }).default(1_000),
};

type Variables = z.output<z.ZodObject<typeof httpVariables>>;

/** Configuration of the HTTP server and of the limits on its callers. */
export interface HttpConfig {
  readonly host: string;
  readonly port: number;
  /** Without a trailing slash; null: the address of this process. */
  readonly baseUrl: string | null;
  /** The file of identity providers (absolute; null: none). */
  readonly oidcProvidersPath: string | null;
  /** The number of proxies in front of this process, or their addresses, ranges and names as proxy-addr knows them. 0: none. */
  readonly trustProxy: number | readonly string[];
  readonly keepAliveMs: number;
  /** Origins whose pages may call from a browser, as browsers write them, or `*` alone: all. Empty: none. */
  readonly corsOrigins: readonly string[];
  /** REST requests of one key in a minute; 0: no limit, as in the next three. */
  readonly rateLimitRest: number;
  /** Points of one key's GraphQL operations in a minute. */
  readonly rateLimitGraphql: number;
  /** Invalid tokens from one address in a minute. */
  readonly rateLimitLogin: number;
  /** Deliveries to the incoming webhook of one automation in a minute. */
  readonly rateLimitWebhook: number;
  /** Webhooks of a forge to one git connection in a minute; 0: no limit. */
  readonly rateLimitGitWebhook: number;
  /** Requests to model providers and to forges that one principal causes in a minute; 0: no limit. */
  readonly rateLimitProvider: number;
  /** Allows webhooks to private networks and over http. */
  readonly isPrivateWebhookAllowed: boolean;
  /** Allows provider keys for servers in private networks and over http. */
  readonly isPrivateProviderAllowed: boolean;
  /** Allows git connections over http. */
  readonly isHttpForgeAllowed: boolean;
  /** WebSockets and event streams that one principal may have open in this process. */
  readonly maxSockets: number;
  /** Connections that this process has open at once, WebSockets and event streams included. */
  readonly maxConnections: number;
  /** The same from one address (of IPv6: one /64); null: no limit, since all connections come from a proxy. */
  readonly maxConnectionsPerAddress: number | null;
}

/** Converts {@link httpVariables} to the service's names and units. */
export function readHttpConfig(env: Variables): HttpConfig {
  return {
    host: env.HOST,
    port: env.PORT,
    baseUrl: env.BASE_URL?.replace(/\/+$/, '') ?? null,
    oidcProvidersPath: env.OIDC_PROVIDERS === undefined ? null : resolve(env.OIDC_PROVIDERS),
    trustProxy: env.TRUST_PROXY,
    keepAliveMs: env.KEEP_ALIVE_SECONDS * 1_000,
    corsOrigins: env.CORS_ORIGINS ?? [],
    rateLimitRest: env.RATE_LIMIT_REST,
    rateLimitGraphql: env.RATE_LIMIT_GRAPHQL,
    rateLimitLogin: env.RATE_LIMIT_LOGIN,
    rateLimitWebhook: env.RATE_LIMIT_WEBHOOK,
    rateLimitGitWebhook: env.RATE_LIMIT_GIT_WEBHOOK,
    rateLimitProvider: env.RATE_LIMIT_PROVIDER,
    isPrivateWebhookAllowed: env.WEBHOOK_ALLOW_PRIVATE,
    isPrivateProviderAllowed: env.PROVIDER_ALLOW_PRIVATE ?? isForThisComputer(env),
    isHttpForgeAllowed: env.GIT_ALLOW_HTTP,
    maxSockets: env.MAX_SOCKETS,
    maxConnections: env.MAX_CONNECTIONS,
    maxConnectionsPerAddress: env.TRUST_PROXY === 0 ? env.MAX_CONNECTIONS_PER_ADDRESS : null,
  };
}

/**
 * Tells if only this computer can reach the service: it listens on a loopback address, no proxy stands in front, and its
 * links lead to this computer.
 */
function isForThisComputer({ HOST, TRUST_PROXY, BASE_URL }: Variables): boolean {
  const linked = BASE_URL === undefined ? HOST : (parseUrl(BASE_URL)?.hostname ?? '');
  return TRUST_PROXY === 0 && [HOST, linked].every((host) => /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host));
}
