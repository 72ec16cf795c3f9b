import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { CheckpointSettings } from '../domain/context.ts';
import { flag, integer, number, secret, secretKey, text, url, urls } from './forms.ts';

/** Variables for the database, the keys that protect it, and the file storage. */
export const storageVariables = {
  /** The directory of the embedded database, the secret key and the agents' workspaces. */
  DATA_DIR: text().default('./data'),
  /** A PostgreSQL server (15 or newer) to use instead of the embedded database. */
  DATABASE_URL: secret(url(['postgres', 'postgresql']).optional()),
  /** The same database without the pooler in transaction mode to which DATABASE_URL leads. */
  DATABASE_DIRECT_URL: secret(url(['postgres', 'postgresql']).optional()),
  /** Physical standbys of DATABASE_URL from which lists are read, separated by commas. */
  DATABASE_REPLICA_URLS: secret(urls(['postgres', 'postgresql']).optional()),
  /** The time that a list waits for a replica that is behind, before it is read from DATABASE_URL. */
  DATABASE_REPLICA_MAX_LAG_MS: integer({ min: 1, max: 10_000 }).default(100),
  /** Connections to PostgreSQL, besides one that listens and two for heartbeats. */
  DATABASE_POOL_SIZE: integer({ min: 1, max: 1_000 }).default(10),
  /** The time that a caller waits for a connection to PostgreSQL. */
  DATABASE_CONNECT_TIMEOUT_SECONDS: integer({ min: 1, max: 600 }).default(10),
  /** The maximum duration of one statement. */
  DATABASE_STATEMENT_TIMEOUT_SECONDS: integer({ min: 1, max: 3_600 }).default(30),
  /** The lifetime of an idle connection to PostgreSQL. */
  DATABASE_IDLE_TIMEOUT_SECONDS: integer({ min: 1, max: 86_400 }).default(60),
  /** The time after which PostgreSQL ends a transaction that sends nothing. */
  DATABASE_IDLE_IN_TRANSACTION_TIMEOUT_SECONDS: integer({ min: 1, max: 3_600 }).default(60),
  /** A fixed administrator's token. */
  BOOTSTRAP_TOKEN: secret(
    z
      .string()
      .regex(/^cog_[A-Za-z0-9]{32,128}$/, 'must be "cog_" and 32 to 128 characters of A–Z, a–z, 0–9')
      .optional(),
  ),
  /** The key that protects all tokens and secrets; generated into DATA_DIR by default. */
  SECRET_KEY: secret(secretKey().optional()),
  /** The key before SECRET_KEY, while keys are being rotated. */
  SECRET_KEY_PREVIOUS: secret(secretKey().optional()),
  /** The size of the largest attachment. */
  MAX_ATTACHMENT_MB: integer({ min: 1, max: 2_000 }).default(100),
  /** The size of the files in which one session's outputs of tools are stored; 0: they are not stored. */
  MAX_TOOL_OUTPUT_MB: integer({ min: 0, max: 1_000_000, minMeaning: 'none' }).default(500),
  /** The size of the largest repository that a worker clones. */
  MAX_REPOSITORY_MB: integer({ min: 1, max: 10_000_000 }).default(8_192),
  /** The size of all mirrors of repositories of one worker; 0: no limit. */
  MAX_MIRRORS_MB: integer({ min: 0, max: 100_000_000, minMeaning: 'no limit' }).default(102_400),
  /** False: workspaces are not saved in checkpoints. */
  CHECKPOINTS: flag(true),
  /** The size of all files of one session's checkpoint that git does not ignore. */
  MAX_WORKSPACE_MB: integer({ min: 1, max: 10_000_000 }).default(8_192),
  /** The same for files that git ignores; 0: they are not saved. */
  MAX_IGNORED_FILES_MB: integer({ min: 0, max: 10_000_000, minMeaning: 'none' }).default(2_048),
  /** The time after which a session that is over loses its checkpoints; 0: never. */
  CHECKPOINT_RETENTION_DAYS: number({ min: 0, max: 36_500, minMeaning: 'never' }).default(30),
  /** The directory of attachments without S3; a shared directory when several processes serve them. */
  ATTACHMENTS_DIR: text().optional(),
  /** The bucket for attachments, instead of a directory. */
  S3_BUCKET: text().optional(),
  /** The bucket's region. */
  S3_REGION: text().default('us-east-1'),
  /** The address of an S3-compatible server that is not Amazon's. */
  S3_ENDPOINT: url(['http', 'https']).optional(),
  /** Requires S3_SECRET_ACCESS_KEY; the machine's own role by default. */
  S3_ACCESS_KEY_ID: secret(text().optional()),
  /** Requires S3_ACCESS_KEY_ID. */
  S3_SECRET_ACCESS_KEY: secret(text().optional()),
};

const dayMs = 86_400_000;

type Variables = z.output<z.ZodObject<typeof storageVariables>>;

/** Configuration of the database, the keys that protect it, and the file storage. Paths are absolute. */
export interface StorageConfig {
  readonly dataDir: string;
  /** A server itself, or a pooler in session mode; null: the embedded database. */
  readonly databaseUrl: string | null;
  /** A pooler in transaction mode for the statements of requests; null: they use `databaseUrl`. */
  readonly databasePoolerUrl: string | null;
  /** The read replicas: no addresses, none. */
  readonly databaseReplicas: { readonly urls: readonly string[]; readonly maxLagMs: number };
  /** Sizes and timeouts of the connections to PostgreSQL. */
  readonly databaseLimits: {
    readonly poolSize: number;
    readonly connectMs: number;
    readonly statementMs: number;
    readonly idleMs: number;
    readonly idleInTransactionMs: number;
  };
  readonly bootstrapToken: string | null;
  readonly secretKey: string | null;
  readonly previousSecretKey: string | null;
  readonly maxAttachmentBytes: number;
  /** Of one session. 0: no files. */
  readonly maxToolOutputBytes: number;
  readonly maxRepositoryBytes: number;
  /** Of one worker; infinite: no limit. */
  readonly maxMirrorsBytes: number;
  readonly checkpoints: CheckpointSettings;
  /** The directory of attachments without `s3`. */
  readonly attachmentsDir: string;
  /** Null: no bucket. `endpoint` null: Amazon's; `credentials` null: the machine's own role. */
  readonly s3: {
    readonly bucket: string;
    readonly region: string;
    readonly endpoint: string | null;
    readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | null;
  } | null;
}

/** Returns a sentence for each contradiction among {@link storageVariables}. */
export function findStorageProblems(env: Variables): string[] {
  const isSet = env.S3_ENDPOINT ?? env.S3_ACCESS_KEY_ID ?? env.S3_SECRET_ACCESS_KEY;
  const hasPartialCredentials = (env.S3_ACCESS_KEY_ID === undefined) !== (env.S3_SECRET_ACCESS_KEY === undefined);
  return [
    ...(env.DATABASE_DIRECT_URL !== undefined && env.DATABASE_URL === undefined
      ? ['DATABASE_URL must be set with DATABASE_DIRECT_URL.']
      : []),
    ...(env.DATABASE_REPLICA_URLS !== undefined && env.DATABASE_URL === undefined
      ? ['DATABASE_URL must be set with DATABASE_REPLICA_URLS: the embedded database has no replicas.']
      : []),
    ...(isSet !== undefined && env.S3_BUCKET === undefined
      ? ['S3_BUCKET must be set with the other S3 variables.']
      : []),
    ...(hasPartialCredentials ? ['S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be set together.'] : []),
  ];
}

/** Converts {@link storageVariables} to the service's names and units. */
export function readStorageConfig(env: Variables): StorageConfig {
  return {
    dataDir: resolve(env.DATA_DIR),
    databaseUrl: env.DATABASE_DIRECT_URL ?? env.DATABASE_URL ?? null,
    databasePoolerUrl: env.DATABASE_DIRECT_URL === undefined ? null : (env.DATABASE_URL ?? null),
    databaseReplicas: { urls: env.DATABASE_REPLICA_URLS ?? [], maxLagMs: env.DATABASE_REPLICA_MAX_LAG_MS },
    databaseLimits: {
      poolSize: env.DATABASE_POOL_SIZE,
      connectMs: env.DATABASE_CONNECT_TIMEOUT_SECONDS * 1_000,
      statementMs: env.DATABASE_STATEMENT_TIMEOUT_SECONDS * 1_000,
      idleMs: env.DATABASE_IDLE_TIMEOUT_SECONDS * 1_000,
      idleInTransactionMs: env.DATABASE_IDLE_IN_TRANSACTION_TIMEOUT_SECONDS * 1_000,
    },
    bootstrapToken: env.BOOTSTRAP_TOKEN ?? null,
    secretKey: env.SECRET_KEY ?? null,
    previousSecretKey: env.SECRET_KEY_PREVIOUS ?? null,
    maxAttachmentBytes: env.MAX_ATTACHMENT_MB * 1_048_576,
    maxToolOutputBytes: env.MAX_TOOL_OUTPUT_MB * 1_048_576,
    maxRepositoryBytes: env.MAX_REPOSITORY_MB * 1_048_576,
    maxMirrorsBytes: env.MAX_MIRRORS_MB === 0 ? Number.POSITIVE_INFINITY : env.MAX_MIRRORS_MB * 1_048_576,
    checkpoints: {
      isOn: env.CHECKPOINTS,
      maxFileBytes: env.MAX_WORKSPACE_MB * 1_048_576,
      maxIgnoredBytes: env.MAX_IGNORED_FILES_MB * 1_048_576,
      retentionMs: env.CHECKPOINT_RETENTION_DAYS === 0 ? null : env.CHECKPOINT_RETENTION_DAYS * dayMs,
    },
    attachmentsDir: resolve(env.ATTACHMENTS_DIR ?? join(env.DATA_DIR, 'attachments')),
    s3: readS3(env),
  };
}

function readS3(env: Variables): StorageConfig['s3'] {
  const { S3_BUCKET: bucket, S3_REGION: region, S3_ENDPOINT: endpoint = null } = env;
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (bucket === undefined) return null;
  const hasKeys = accessKeyId !== undefined && secretAccessKey !== undefined;
  return { bucket, region, endpoint, credentials: hasKeys ? { accessKeyId, secretAccessKey } : null };
}
