import { z } from 'zod';
import { integer, optionalFlag } from './forms.ts';

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
  /** The time for which a stop keeps answering requests, with /readyz at 503, before the port closes. */
  STOP_DELAY_SECONDS: integer({ min: 0, max: 600 }).default(0),
};

type Variables = z.output<z.ZodObject<typeof processVariables>>;

/** Configuration of the process as a whole. */
export interface ProcessConfig {
  readonly roles: readonly Role[];
  /** True: nothing is run. False: maintenance mode ends at the start. Null: it begins on a copy of a database. */
  readonly maintenance: boolean | null;
  readonly logLevel: (typeof logLevels)[number];
  /** The time for which a stop keeps answering requests, while not ready, before the port closes. */
  readonly stopDelayMs: number;
}

/** Converts {@link processVariables} to the service's names. */
export function readProcessConfig(env: Variables): ProcessConfig {
  return {
    roles: env.ROLES,
    maintenance: env.MAINTENANCE ?? null,
    logLevel: env.LOG_LEVEL,
    stopDelayMs: env.STOP_DELAY_SECONDS * 1_000,
  };
}
