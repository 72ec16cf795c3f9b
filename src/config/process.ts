import { z } from 'zod';
import {
  flag,
  headerList,
  integer,
  type ListenAddress,
  listenAddress,
  number,
  optionalFlag,
  secret,
  text,
  url,
} from './forms.ts';

/** Roles of a process. By default one process has all three. */
const roles = ['api', 'worker', 'scheduler'] as const;
/** One of {@link roles}. */
type Role = (typeof roles)[number];

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Variables for the process as a whole. */
export const processVariables = {
  /** A comma-separated list of {@link roles}. */
  ROLES: z
    .string()
    .default('api,worker,scheduler')
    .transform((value) => [...new Set(value.split(',').map((role) => role.trim()))].filter((role) => role !== ''))
    .refine((value) => value.length > 0 && value.every((role) => (roles as readonly string[]).includes(role)), {
      error: `must be a comma-separated list of ${roles.join(', ')}`,
    })
    .transform((value) => value as Role[]),
  /** True if the service starts in maintenance mode; by default it does on a copy of a database. */
  MAINTENANCE: optionalFlag(),
  /** The least severe level that is logged. */
  LOG_LEVEL: z.enum(logLevels, { error: `must be one of ${logLevels.join(', ')}` }).default('info'),
  /** True if the log has a line for each request. */
  ACCESS_LOG: flag(false),
  /** The address on which `GET /metrics` is answered; none by default. */
  METRICS_ADDRESS: listenAddress().optional(),
  /** The base address of an OTLP/HTTP receiver of traces; none by default. */
  OTEL_EXPORTER_OTLP_ENDPOINT: url(['http', 'https']).optional(),
  /** Headers of the requests to it, such as an API key: `name=value`, separated by commas. */
  OTEL_EXPORTER_OTLP_HEADERS: secret(headerList()).optional(),
  /** The part of traces that are recorded, from 0 to 1. */
  OTEL_TRACES_SAMPLER_ARG: number({ min: 0, max: 1 }).default(1),
  /** The name of the service in traces. */
  OTEL_SERVICE_NAME: text().default('switchyard'),
  /** The time for which a stop keeps answering requests, with /readyz at 503, before the port closes. */
  STOP_DELAY_SECONDS: integer({ min: 0, max: 600 }).default(0),
  /** The time after which a stop gives up on sessions that are not handed over. */
  STOP_TIMEOUT_SECONDS: integer({ min: 1, max: 86_400 }).default(30),
};

type Variables = z.output<z.ZodObject<typeof processVariables>>;

/** Configuration of the process as a whole. */
export interface ProcessConfig {
  readonly roles: readonly Role[];
  /** True: nothing is run. False: maintenance mode ends at the start. Null: it begins on a copy of a database. */
  readonly maintenance: boolean | null;
  readonly logLevel: (typeof logLevels)[number];
  /** True if the log has a line for each request. */
  readonly hasAccessLog: boolean;
  /** The address of the metrics; null: they are not served. */
  readonly metricsAddress: ListenAddress | null;
  /** The settings of traces. `endpoint` null: there are none. */
  readonly traces: {
    readonly endpoint: string | null;
    readonly headers: Readonly<Record<string, string>>;
    /** The part of traces that are recorded, from 0 to 1. */
    readonly ratio: number;
    readonly serviceName: string;
  };
  /** The time for which a stop keeps answering requests, while not ready, before the port closes. */
  readonly stopDelayMs: number;
  /** The time after {@link stopDelayMs} after which the process ends, even if it has not handed over all sessions. */
  readonly stopTimeoutMs: number;
}

/** Converts {@link processVariables} to the service's names. */
export function readProcessConfig(env: Variables): ProcessConfig {
  return {
    roles: env.ROLES,
    maintenance: env.MAINTENANCE ?? null,
    logLevel: env.LOG_LEVEL,
    hasAccessLog: env.ACCESS_LOG,
    metricsAddress: env.METRICS_ADDRESS ?? null,
    traces: {
      endpoint: env.OTEL_EXPORTER_OTLP_ENDPOINT ?? null,
      headers: env.OTEL_EXPORTER_OTLP_HEADERS ?? {},
      ratio: env.OTEL_TRACES_SAMPLER_ARG,
      serviceName: env.OTEL_SERVICE_NAME,
    },
    stopDelayMs: env.STOP_DELAY_SECONDS * 1_000,
    stopTimeoutMs: env.STOP_TIMEOUT_SECONDS * 1_000,
  };
}
