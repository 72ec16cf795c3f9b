import { z } from 'zod';

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
  /** The least severe level that is logged. */
  LOG_LEVEL: z.enum(logLevels, { error: `must be one of ${logLevels.join(', ')}` }).default('info'),
};

type Variables = z.output<z.ZodObject<typeof processVariables>>;

/** Configuration of the process as a whole. */
export interface ProcessConfig {
  readonly roles: readonly Role[];
  readonly logLevel: (typeof logLevels)[number];
}

/** Converts {@link processVariables} to the service's names. */
export function readProcessConfig(env: Variables): ProcessConfig {
  return { roles: env.ROLES, logLevel: env.LOG_LEVEL };
}
