import { join, resolve } from 'node:path';
import { z } from 'zod';
import { sandboxChoices } from '../agents/sandbox/drivers.ts';
import type { ConcurrencyLimits, OrganizationQuotas } from '../domain/context.ts';
import type { MeteringRates } from '../domain/metering-rates.ts';
import { flag, integer, number, text } from './forms.ts';

/** The interval at which usage is recorded and compared with the limits. */
const meterIntervalMs = 5_000;
const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;

/** Variables for sessions and the agents that work on them. */
export const sessionVariables = {
  /** A JSON file of agent profiles. */
  AGENTS_CONFIG: text().optional(),
  /** The directory of the agent programs that this process installs; `agent-programs` in DATA_DIR by default. */
  AGENTS_DIR: text().optional(),
  /** False if nobody may install, update or remove an agent program. */
  AGENTS_INSTALL: flag(true),
  /** The sandbox of agents whose profiles name none. */
  SANDBOX: z.enum(sandboxChoices, { error: `must be one of ${sandboxChoices.join(', ')}` }).default('auto'),
  /** The maximum number of sessions that this process runs at once; derived from cores and memory by default. */
  MAX_CONCURRENT_SESSIONS: integer({ min: 1, max: 1_000 }).optional(),
  /**
   * The maximum number of running sessions of an organization, over all processes, unless it has a limit of its own; 0:
   * no limit.
   */
  MAX_CONCURRENT_SESSIONS_PER_ORGANIZATION: integer({ min: 0, max: 1_000_000, minMeaning: 'no limit' }).default(0),
  /** The maximum number of running sessions of one user in an organization, over all processes; 0: no limit. */
  MAX_CONCURRENT_SESSIONS_PER_USER: integer({ min: 0, max: 1_000_000, minMeaning: 'no limit' }).default(0),
  /** The maximum number of sessions of an organization that wait in the queue, unless it has a limit of its own; 0: no limit. */
  MAX_QUEUED_SESSIONS_PER_ORGANIZATION: integer({ min: 0, max: 1_000_000, minMeaning: 'no limit' }).default(0),
  /** The maximum size of an organization's attachments and checkpoints, unless it has a limit of its own; 0: no limit. */
  MAX_STORAGE_MB_PER_ORGANIZATION: integer({ min: 0, max: 1_000_000_000, minMeaning: 'no limit' }).default(0),
  /** The tokens that an organization may use in a day (UTC), unless it has a limit of its own; 0: no limit. */
  MAX_TOKENS_PER_DAY_PER_ORGANIZATION: integer({
    min: 0,
    max: 1_000_000_000_000_000,
    minMeaning: 'no limit',
  }).default(0),
  /** The duration of a worker's lease on a session without a heartbeat. */
  LEASE_SECONDS: integer({ min: 2, max: 3_600 }).default(45),
  /** Minutes of an agent's work that make one ACU. */
  ACU_MINUTES: number({ min: 0.001, max: 100_000 }).default(15),
  /** ACUs for each dollar of model cost, added to those for the time. */
  ACU_PER_USD: number({ min: 0, max: 100_000, minMeaning: 'cost does not count' }).default(0),
  /** The time that a session waits for the user before it is suspended; 0: without a limit. */
  IDLE_SUSPEND_MINUTES: number({ min: 0, max: 1_000_000, minMeaning: 'never' }).default(60),
  /** The time after which a waiting or suspended session expires; 0: never. */
  SESSION_EXPIRY_DAYS: number({ min: 0, max: 36_500, minMeaning: 'never' }).default(30),
  /** The time after which a session that is over loses its workspace and home; 0: never. */
  WORKSPACE_RETENTION_DAYS: number({ min: 0, max: 36_500, minMeaning: 'never' }).default(14),
  /** The time after which a finished or failed session, which a message would resume, loses them; 0: never. */
  WORKSPACE_INACTIVE_DAYS: number({ min: 0, max: 36_500, minMeaning: 'never' }).default(90),
  /**
   * The time that a session waits for a lost worker that has its workspace, before another worker takes it over. Default: 3 if a
   * checkpoint can be restored, and 30 if the workspace would be lost.
   */
  WORKSPACE_AFFINITY_SECONDS: integer({ min: 0, max: 86_400 }).optional(),
  /** The time after which an inactive session gives up its space on a worker's disk, if its workspace is stored; 0: never. */
  WORKSPACE_RELEASE_AFTER_HOURS: number({ min: 0, max: 876_000, minMeaning: 'never' }).default(24),
  /** The memory that all agents of this process may use together, by the limits in their profiles. */
  AGENT_MEMORY_MB: integer({ min: 1, max: 100_000_000 }).optional(),
  /** The maximum size of the pack of a push. */
  GIT_MAX_PUSH_MB: integer({ min: 1, max: 1_000_000 }).default(2_048),
  /** The name by which people address the service at forges, without "@". */
  MENTION_NAME: text()
    .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,38}$/, 'must be 1 to 39 letters, digits, "-" and "_"')
    .default('switchyard'),
};

type Variables = z.output<z.ZodObject<typeof sessionVariables>> & { readonly DATA_DIR: string };

/** Configuration of sessions and the agents that work on them. */
export interface SessionConfig {
  /** Absolute; null: the built-in profiles only. */
  readonly agentsConfig: string | null;
  /** The directory of installed agent programs. Absolute. */
  readonly agentsDir: string;
  /** True if agent programs may be installed, updated and removed. */
  readonly canInstallAgents: boolean;
  /** `auto`: bubblewrap where it works. */
  readonly sandbox: (typeof sandboxChoices)[number];
  readonly maxConcurrentSessions: number | null;
  /** The maximum number of running sessions of an organization and of a user, over all processes. */
  readonly concurrencyLimits: ConcurrencyLimits;
  readonly organizationQuotas: OrganizationQuotas;
  readonly leaseMs: number;
  readonly affinityMs: number;
  /** The same if a checkpoint can be restored. */
  readonly storedAffinityMs: number;
  /** In MiB; null: this machine's memory, or no limit when `maxConcurrentSessions` is set. */
  readonly agentMemoryMb: number | null;
  /** The maximum size of the pack of a push. */
  readonly maxPushBytes: number;
  /** The name by which people address the service at forges, without "@". */
  readonly mentionName: string;
  /** The size of an ACU, and the interval at which usage is measured. */
  readonly metering: MeteringRates;
  /** The time that a session waits for the user before it is suspended; null: without a limit. */
  readonly idleSuspendMs: number | null;
  /** The time after which a waiting or suspended session expires; null: never. */
  readonly sessionExpiryMs: number | null;
  /** The time after which a session that is over loses its workspace and home; null: never. */
  readonly workspaceRetentionMs: number | null;
  /** The same for a finished or failed session that a message would resume. */
  readonly workspaceInactiveMs: number | null;
  /** The time after which an inactive session whose workspace is stored gives up its space on the disk; null: never. */
  readonly workspaceReleaseMs: number | null;
}

/** Converts {@link sessionVariables} to the service's names and units. */
export function readSessionConfig(env: Variables): SessionConfig {
  return {
    agentsConfig: env.AGENTS_CONFIG === undefined ? null : resolve(env.AGENTS_CONFIG),
    agentsDir: resolve(env.AGENTS_DIR ?? join(env.DATA_DIR, 'agent-programs')),
    canInstallAgents: env.AGENTS_INSTALL,
    sandbox: env.SANDBOX,
    maxConcurrentSessions: env.MAX_CONCURRENT_SESSIONS ?? null,
    concurrencyLimits: {
      perOrganization: env.MAX_CONCURRENT_SESSIONS_PER_ORGANIZATION || null,
      perUser: env.MAX_CONCURRENT_SESSIONS_PER_USER || null,
    },
    organizationQuotas: {
      maxQueuedSessions: env.MAX_QUEUED_SESSIONS_PER_ORGANIZATION || null,
      maxStorageMb: env.MAX_STORAGE_MB_PER_ORGANIZATION || null,
      maxTokensPerDay: env.MAX_TOKENS_PER_DAY_PER_ORGANIZATION || null,
    },
    leaseMs: env.LEASE_SECONDS * 1_000,
    affinityMs: (env.WORKSPACE_AFFINITY_SECONDS ?? 30) * 1_000,
    storedAffinityMs: (env.WORKSPACE_AFFINITY_SECONDS ?? 3) * 1_000,
    agentMemoryMb: env.AGENT_MEMORY_MB ?? null,
    maxPushBytes: env.GIT_MAX_PUSH_MB * 1_048_576,
    mentionName: env.MENTION_NAME,
    metering: { minutesPerAcu: env.ACU_MINUTES, acusPerUsd: env.ACU_PER_USD, everyMs: meterIntervalMs },
    idleSuspendMs: env.IDLE_SUSPEND_MINUTES === 0 ? null : env.IDLE_SUSPEND_MINUTES * minuteMs,
    workspaceRetentionMs: env.WORKSPACE_RETENTION_DAYS === 0 ? null : env.WORKSPACE_RETENTION_DAYS * dayMs,
    workspaceInactiveMs: env.WORKSPACE_INACTIVE_DAYS === 0 ? null : env.WORKSPACE_INACTIVE_DAYS * dayMs,
    workspaceReleaseMs: env.WORKSPACE_RELEASE_AFTER_HOURS === 0 ? null : env.WORKSPACE_RELEASE_AFTER_HOURS * hourMs,
    sessionExpiryMs: env.SESSION_EXPIRY_DAYS === 0 ? null : env.SESSION_EXPIRY_DAYS * dayMs,
  };
}
