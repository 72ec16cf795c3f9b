import { isIP, isIPv6 } from 'node:net';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { sandboxChoices } from './agents/isolation/isolation.ts';
import type { MeteringRates } from './domain/metering/rates.ts';

/** What a process may do; one process does all three unless told otherwise. */
export const roles = ['api', 'worker', 'scheduler'] as const;
/** See {@link roles}. */
export type Role = (typeof roles)[number];

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

const url = (protocols: readonly string[]) =>
  z.string().refine((value) => URL.canParse(value) && protocols.includes(new URL(value).protocol.slice(0, -1)), {
    error: `must be an address that begins with ${protocols.map((protocol) => `${protocol}://`).join(' or ')}`,
  });

const secretKey = z
  .string()
  .min(32, 'must have at least 32 characters')
  .max(1_000, 'must have at most 1,000 characters');

/** The most proxies that may stand in a row. */
const mostHops = 32;
/** Networks that `TRUST_PROXY` has words for. */
const networkWords = ['loopback', 'linklocal', 'uniquelocal'];

function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  if (isIP(address) === 0 || address.includes('%') || more.length > 0) return false;
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (isIPv6(address) ? 128 : 32));
}

const trustedProxies = z
  .string()
  .transform((value) => (/^\d+$/.test(value.trim()) ? Number(value) : value.split(',').map((each) => each.trim())))
  .refine(
    (given) =>
      typeof given === 'number'
        ? given <= mostHops
        : given.every((network) => networkWords.includes(network) || isNetwork(network)),
    {
      error: `must be a number of proxies, at most ${mostHops}, or a comma-separated list of addresses, ranges (10.0.0.0/8) and the words ${networkWords.join(', ')}`,
    },
  );

/** How often what agents use is written down, and compared with the limits. */
const meterEveryMs = 5_000;

/** A limit on something in each minute; 0 switches it off. */
const perMinute = (usual: number) =>
  z.coerce
    .number({ error: 'must be a number' })
    .int('must be an integer')
    .min(0, 'must be 0 (no limit) or more')
    .max(100_000_000, 'must be at most 100000000')
    .default(usual);

/** A switch; it may be written in any of the usual ways. */
const flag = (usual: boolean) =>
  z
    .enum(['true', 'false', '1', '0', 'on', 'off'], { error: 'must be true or false' })
    .transform((value) => ['true', '1', 'on'].includes(value))
    .default(usual);

/** An origin as browsers write it; null for what is none. */
function originOf(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isBare = url !== null && `${url.pathname}${url.search}${url.hash}${url.username}${url.password}` === '/';
  return isBare && /^https?:$/.test(url.protocol) && !/[?#@]/.test(text) ? url.origin : null;
}

const corsOrigins = z
  .string()
  .transform((value) => value.split(',').map((each) => each.trim()))
  .refine((given) => given.join() === '*' || given.every((each) => originOf(each) !== null), {
    error:
      'must be a comma-separated list of origins (https://console.example.com, without a path), or "*" by itself for all',
  })
  .transform((given) => [...new Set(given.map((each) => originOf(each) ?? each))]);

/** Every variable: its meaning, its form, its default. Nothing else reads the environment. */
const variables = z.object({
  /** The address to listen on. */
  HOST: z.string().min(1).default('127.0.0.1'),
  /** The port to listen on; 0 takes a free one. */
  PORT: z.coerce
    .number({ error: 'must be a number' })
    .int('must be an integer')
    .min(0, 'must be 0 to 65535')
    .max(65_535, 'must be 0 to 65535')
    .default(4_000),
  /** Where the embedded database, the secret key and the agents' workspaces live. */
  DATA_DIR: z.string().min(1).default('./data'),
  /** A PostgreSQL (15 or newer) instead of the embedded database. */
  DATABASE_URL: url(['postgres', 'postgresql']).optional(),
  /** What `url` fields link to; the address of this process when not set. */
  BASE_URL: url(['http', 'https']).optional(),
  /** A fixed administrator's token. */
  BOOTSTRAP_TOKEN: z
    .string()
    .regex(/^cog_[A-Za-z0-9]{32,128}$/, 'must be "cog_" and 32 to 128 characters of A–Z, a–z, 0–9')
    .optional(),
  /** What all tokens and secrets are protected with; generated into DATA_DIR when not set. */
  SECRET_KEY: secretKey.optional(),
  /** The key before SECRET_KEY, while keys are being rotated. */
  SECRET_KEY_PREVIOUS: secretKey.optional(),
  /** Comma-separated parts of {@link roles}. */
  ROLES: z
    .string()
    .default('api,worker,scheduler')
    .transform((value) => [...new Set(value.split(',').map((role) => role.trim()))].filter((role) => role !== ''))
    .refine((given) => given.length > 0 && given.every((role) => (roles as readonly string[]).includes(role)), {
      error: `must be a comma-separated list of ${roles.join(', ')}`,
    })
    .transform((given) => given as Role[]),
  /** A JSON file of agent profiles. */
  AGENTS_CONFIG: z.string().min(1).optional(),
  /** How agents are kept apart from this host, where their profiles do not say it. */
  SANDBOX: z.enum(sandboxChoices, { error: `must be one of ${sandboxChoices.join(', ')}` }).default('auto'),
  /** How much is logged. */
  LOG_LEVEL: z.enum(logLevels, { error: `must be one of ${logLevels.join(', ')}` }).default('info'),
  /** How many sessions this process works on at once; decided by cores and memory when not set. */
  MAX_CONCURRENT_SESSIONS: z.coerce
    .number({ error: 'must be a number' })
    .int('must be an integer')
    .min(1, 'must be at least 1')
    .max(1_000, 'must be at most 1000')
    .optional(),
  /** How long a worker's claim on a session holds without a heartbeat. */
  LEASE_SECONDS: z.coerce
    .number({ error: 'must be a number' })
    .int('must be an integer')
    .min(2, 'must be at least 2')
    .max(3_600, 'must be at most 3600')
    .default(45),
  /** Minutes of an agent's work that are one ACU. */
  ACU_MINUTES: z.coerce
    .number({ error: 'must be a number' })
    .min(0.001, 'must be at least 0.001')
    .max(100_000, 'must be at most 100000')
    .default(15),
  /** ACUs for a dollar that models have cost, beside those for the time. */
  ACU_PER_USD: z.coerce
    .number({ error: 'must be a number' })
    .min(0, 'must be 0 (cost does not count) or more')
    .max(100_000, 'must be at most 100000')
    .default(0),
  /** How long a session waits for the user before it is put to sleep; 0: for ever. */
  IDLE_SUSPEND_MINUTES: z.coerce
    .number({ error: 'must be a number' })
    .min(0, 'must be 0 (never) or more')
    .max(1_000_000, 'must be at most 1000000')
    .default(60),
  /** After how long a session that waits or sleeps is over; 0: never. */
  SESSION_EXPIRY_DAYS: z.coerce
    .number({ error: 'must be a number' })
    .min(0, 'must be 0 (never) or more')
    .max(36_500, 'must be at most 36500')
    .default(30),
  /** How long a session waits for the worker that has its workspace and is gone, before another takes it with an empty one. */
  WORKSPACE_AFFINITY_SECONDS: z.coerce
    .number({ error: 'must be a number' })
    .int('must be an integer')
    .min(0, 'must be at least 0')
    .max(86_400, 'must be at most 86400')
    .default(30),
  /** What the agents of this process may take together, by the memory that their profiles say. */
  AGENT_MEMORY_MB: z.coerce
    .number({ error: 'must be a number' })
    .int('must be an integer')
    .min(1, 'must be at least 1')
    .max(100_000_000, 'must be at most 100000000')
    .optional(),
  /** Which proxies may say, in X-Forwarded-For, for whom they ask. */
  TRUST_PROXY: trustedProxies.default(0),
  /** How long a connection is kept without a request: longer than a proxy keeps it, or the proxy asks one that is just closed. */
  KEEP_ALIVE_SECONDS: z.coerce
    .number({ error: 'must be a number' })
    .int('must be an integer')
    .min(1, 'must be at least 1')
    .max(3_600, 'must be at most 3600')
    .default(130),
  /** The origins whose pages may call the service from a browser; none when not set. */
  CORS_ORIGINS: corsOrigins.optional(),
  /** REST requests of one key in a minute. */
  RATE_LIMIT_REST: perMinute(600),
  /** Points of one key's GraphQL operations in a minute. */
  RATE_LIMIT_GRAPHQL: perMinute(60_000),
  /** Tokens from one address in a minute that are not good. */
  RATE_LIMIT_LOGIN: perMinute(30),
  /** Deliveries to the incoming webhook of one automation in a minute; 0: no limit. */
  RATE_LIMIT_WEBHOOK: perMinute(300),
  /** Whether webhooks may be sent to addresses of own networks, and over http. */
  WEBHOOK_ALLOW_PRIVATE: flag(false),
  /** Whether the GraphQL schema may be asked for. */
  INTROSPECTION: flag(true),
  /** Whether browsers get an explorer at /graphql. */
  EXPLORER: flag(true),
  /** A file of GraphQL documents that are known by an id. */
  TRUSTED_DOCUMENTS: z.string().min(1).optional(),
  /** Whether no other document is run. */
  TRUSTED_DOCUMENTS_ONLY: flag(false),
  /** WebSockets and streams of server-sent events that one principal may have open in this process. */
  MAX_SOCKETS: z.coerce
    .number({ error: 'must be a number' })
    .int('must be an integer')
    .min(1, 'must be at least 1')
    .max(100_000, 'must be at most 100000')
    .default(100),
  /** The largest attachment that is taken. */
  MAX_ATTACHMENT_MB: z.coerce
    .number({ error: 'must be a number' })
    .int('must be an integer')
    .min(1, 'must be at least 1')
    .max(2_000, 'must be at most 2000')
    .default(100),
  /** Where attachments are kept without S3; a shared folder when several processes serve them. */
  ATTACHMENTS_DIR: z.string().min(1).optional(),
  /** A bucket for attachments, instead of a directory. */
  S3_BUCKET: z.string().min(1).optional(),
  /** The bucket's region. */
  S3_REGION: z.string().min(1).default('us-east-1'),
  /** The address of what speaks like S3, when it is not Amazon's. */
  S3_ENDPOINT: url(['http', 'https']).optional(),
  /** With S3_SECRET_ACCESS_KEY; the machine's own role when not set. */
  S3_ACCESS_KEY_ID: z.string().min(1).optional(),
  /** Goes with S3_ACCESS_KEY_ID. */
  S3_SECRET_ACCESS_KEY: z.string().min(1).optional(),
});

function s3Problems(env: z.output<typeof variables>): string[] {
  const isSet = env.S3_ENDPOINT ?? env.S3_ACCESS_KEY_ID ?? env.S3_SECRET_ACCESS_KEY;
  const hasHalf = (env.S3_ACCESS_KEY_ID === undefined) !== (env.S3_SECRET_ACCESS_KEY === undefined);
  return [
    ...(isSet !== undefined && env.S3_BUCKET === undefined
      ? ['S3_BUCKET must be set with the other S3 variables.']
      : []),
    ...(hasHalf ? ['S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be set together.'] : []),
  ];
}

function documentProblems(env: z.output<typeof variables>): string[] {
  return env.TRUSTED_DOCUMENTS_ONLY && env.TRUSTED_DOCUMENTS === undefined
    ? ['TRUSTED_DOCUMENTS_ONLY needs TRUSTED_DOCUMENTS: without it nothing could be run.']
    : [];
}

function s3Of(env: z.output<typeof variables>): Config['s3'] {
  const { S3_BUCKET: bucket, S3_REGION: region, S3_ENDPOINT: endpoint = null } = env;
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (bucket === undefined) return null;
  const isKeyed = accessKeyId !== undefined && secretAccessKey !== undefined;
  return { bucket, region, endpoint, credentials: isKeyed ? { accessKeyId, secretAccessKey } : null };
}

/** The configuration of one process. Paths are absolute. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  readonly databaseUrl: string | null;
  readonly baseUrl: string | null;
  readonly bootstrapToken: string | null;
  readonly secretKey: string | null;
  readonly previousSecretKey: string | null;
  readonly roles: readonly Role[];
  readonly agentsConfig: string | null;
  /** `auto`: bubblewrap where it works. */
  readonly sandbox: (typeof sandboxChoices)[number];
  readonly logLevel: (typeof logLevels)[number];
  readonly maxConcurrentSessions: number | null;
  readonly leaseMs: number;
  readonly affinityMs: number;
  /** In MiB; null: what this machine has, or any where `maxConcurrentSessions` is said. */
  readonly agentMemoryMb: number | null;
  /** What an ACU is, and how often it is looked at. */
  readonly metering: MeteringRates;
  /** How long a session waits for the user before it is put to sleep; null: for ever. */
  readonly idleSuspendMs: number | null;
  /** After how long a session that waits or sleeps is over; null: never. */
  readonly sessionExpiryMs: number | null;
  /** How many proxies stand before this process, or which: addresses, ranges, and proxy-addr's words. 0: none. */
  readonly trustProxy: number | readonly string[];
  readonly keepAliveMs: number;
  /** Origins whose pages may call from a browser, as browsers write them, or `*` alone: all. Empty: none. */
  readonly corsOrigins: readonly string[];
  /** REST requests of one key in a minute; 0: no limit, as in the next three. */
  readonly rateLimitRest: number;
  /** Points of one key's GraphQL operations in a minute. */
  readonly rateLimitGraphql: number;
  /** Tokens from one address in a minute that are not good. */
  readonly rateLimitLogin: number;
  /** Deliveries to an automation's incoming webhook in a minute; 0: no limit. */
  readonly rateLimitWebhook: number;
  /** Whether webhooks may be sent to addresses of own networks, and over http. */
  readonly isPrivateWebhookAllowed: boolean;
  /** Whether the GraphQL schema may be asked for. */
  readonly isIntrospectable: boolean;
  readonly hasExplorer: boolean;
  /** The file of trusted documents, if any, and whether no other document is run. */
  readonly trustedDocuments: { readonly path: string | null; readonly isOnly: boolean };
  /** WebSockets and streams of server-sent events that one principal may have open in this process. */
  readonly maxSockets: number;
  readonly maxAttachmentBytes: number;
  /** Where attachments are kept without `s3`. */
  readonly attachmentsDir: string;
  /** Null: no bucket. `endpoint` null: Amazon's; `credentials` null: the machine's own role. */
  readonly s3: {
    readonly bucket: string;
    readonly region: string;
    readonly endpoint: string | null;
    readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | null;
  } | null;
  /** The variables that agents may see (PATH, LANG, TERM, TMPDIR), as this process has them. */
  readonly agentBaseEnv: Readonly<Record<string, string>>;
  /** A variable that an agent's profile names as its provider's key; undefined for one that is not set or is the service's own. */
  readonly readVariable: (name: string) => string | undefined;
}

/** All that is wrong with the environment, one line a variable; it never repeats a value. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(
      `The configuration has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
    );
    this.name = 'ConfigError';
  }
}

const agentVariables = ['PATH', 'LANG', 'LC_ALL', 'TERM', 'TMPDIR', 'TZ'];

/** Reads the environment; an empty variable counts as not set. Throws one {@link ConfigError} with every problem. */
export function readConfig(environment: Record<string, string | undefined> = process.env): Config {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const result = variables.safeParse(given);
  if (!result.success) {
    throw new ConfigError(result.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}.`));
  }
  const env = result.data;
  const problems = [...s3Problems(env), ...documentProblems(env)];
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    host: env.HOST,
    port: env.PORT,
    dataDir: resolve(env.DATA_DIR),
    databaseUrl: env.DATABASE_URL ?? null,
    baseUrl: env.BASE_URL?.replace(/\/+$/, '') ?? null,
    bootstrapToken: env.BOOTSTRAP_TOKEN ?? null,
    secretKey: env.SECRET_KEY ?? null,
    previousSecretKey: env.SECRET_KEY_PREVIOUS ?? null,
    roles: env.ROLES,
    agentsConfig: env.AGENTS_CONFIG === undefined ? null : resolve(env.AGENTS_CONFIG),
    sandbox: env.SANDBOX,
    logLevel: env.LOG_LEVEL,
    maxConcurrentSessions: env.MAX_CONCURRENT_SESSIONS ?? null,
    leaseMs: env.LEASE_SECONDS * 1_000,
    affinityMs: env.WORKSPACE_AFFINITY_SECONDS * 1_000,
    agentMemoryMb: env.AGENT_MEMORY_MB ?? null,
    metering: { minutesPerAcu: env.ACU_MINUTES, acusPerUsd: env.ACU_PER_USD, everyMs: meterEveryMs },
    idleSuspendMs: env.IDLE_SUSPEND_MINUTES === 0 ? null : env.IDLE_SUSPEND_MINUTES * 60_000,
    sessionExpiryMs: env.SESSION_EXPIRY_DAYS === 0 ? null : env.SESSION_EXPIRY_DAYS * 86_400_000,
    trustProxy: env.TRUST_PROXY,
    keepAliveMs: env.KEEP_ALIVE_SECONDS * 1_000,
    corsOrigins: env.CORS_ORIGINS ?? [],
    rateLimitRest: env.RATE_LIMIT_REST,
    rateLimitGraphql: env.RATE_LIMIT_GRAPHQL,
    rateLimitLogin: env.RATE_LIMIT_LOGIN,
    rateLimitWebhook: env.RATE_LIMIT_WEBHOOK,
    isPrivateWebhookAllowed: env.WEBHOOK_ALLOW_PRIVATE,
    isIntrospectable: env.INTROSPECTION,
    hasExplorer: env.EXPLORER,
    trustedDocuments: {
      path: env.TRUSTED_DOCUMENTS === undefined ? null : resolve(env.TRUSTED_DOCUMENTS),
      isOnly: env.TRUSTED_DOCUMENTS_ONLY,
    },
    maxSockets: env.MAX_SOCKETS,
    maxAttachmentBytes: env.MAX_ATTACHMENT_MB * 1_048_576,
    attachmentsDir: resolve(env.ATTACHMENTS_DIR ?? join(env.DATA_DIR, 'attachments')),
    s3: s3Of(env),
    readVariable: (name) => (Object.hasOwn(variables.shape, name) ? undefined : given[name]),
    agentBaseEnv: Object.fromEntries(
      agentVariables.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])),
    ),
  };
}
