import { z } from 'zod';
import { defaultTmpMb } from '../sandbox/bwrap.ts';
import { driverNames } from '../sandbox/descriptions.ts';
import type { SandboxSettings } from '../sandbox/settings.ts';

/** Environment variables by name. */
export const variables = z.record(z.string().regex(/^[^=\0]+$/, 'must be a name without "="'), z.string());

const inside = z.string().startsWith('/', 'must be an absolute path');

const sandboxFields = z
  .strictObject({
    driver: z.enum(driverNames).optional(),
    command: z.array(z.string().min(1)).default([]),
    network: z.enum(['shared', 'gateway']).default('shared'),
    'read_only': z.array(z.string().min(1)).default([]),
    'tmp_mb': z.int().min(1).max(1_048_576).default(defaultTmpMb),
    // The paths at which a command like `docker run` mounts the three directories.
    paths: z.strictObject({ workspace: inside, home: inside, runtime: inside }).nullable().default(null),
    'stop_command': z.array(z.string().min(1)).default([]),
  })
  .transform((raw, context): SandboxSettings => {
    // A profile that describes a sandbox requires one: if bubblewrap does not work, the launch fails instead of running
    // without.
    const driver = raw.driver ?? (raw.command.length > 0 ? 'command' : 'bwrap');
    if (driver === 'command' && raw.command.length === 0) {
      context.addIssue({ code: 'custom', path: ['command'], message: 'must be given with the driver "command"' });
    }
    if (driver !== 'command' && raw.command.length > 0) {
      const message = `goes with the driver "command", and the driver is "${driver}"`;
      context.addIssue({ code: 'custom', path: ['command'], message });
    }
    const { command, network, paths } = raw;
    return {
      driver,
      command,
      network,
      readOnly: raw.read_only,
      tmpMb: raw.tmp_mb,
      paths,
      stopCommand: raw.stop_command,
    };
  });

/** `sandbox` of a profile: an object, or `none` or `bwrap` alone; null: the default of the process. */
export const sandboxSchema = z
  .preprocess((raw) => (typeof raw === 'string' && raw !== 'command' ? { driver: raw } : raw), sandboxFields.nullable())
  .prefault(null);

/** `provider` of a profile, as written; the loader finds the key and creates ProviderSettings from it. */
export const providerSchema = z
  .strictObject({
    variables: z
      .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be an environment variable's name"))
      .default([]),
    'key_file': z.string().min(1).nullable().default(null),
    gateway: z.boolean().nullable().default(null),
    api: z.enum(['openai', 'anthropic', 'gemini']).nullable().default(null),
    'base_url': z
      .url({ protocol: /^https?$/, error: 'must be an address that begins with http:// or https://' })
      .nullable()
      .default(null),
    'gateway_env': variables.default({}),
    'stored_keys': z.boolean().nullable().default(null),
  })
  .nullable()
  .default(null);

/** The output of {@link providerSchema}. */
export type ProviderDraft = NonNullable<z.output<typeof providerSchema>>;
