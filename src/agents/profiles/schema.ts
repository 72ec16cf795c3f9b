import { z } from 'zod';
import type { AgentProfile } from '../agent.ts';
import { offerLimits } from '../options/agent-option.ts';
import { type ProviderDraft, providerSchema, sandboxSchema, variables } from './environment-schema.ts';
import { distributionSchema, registryFields, startOf } from './registry.ts';

/** The maximum delay of a timer, 24.8 days. */
const maxMs = 2 ** 31 - 1;
const ms = (fallback: number) => z.int().min(0).max(maxMs).default(fallback);

/** A profile with its paths as written, and without the provider's key. */
export type ProfileDraft = Omit<AgentProfile, 'provider'> & {
  readonly provider: ProviderDraft | null;
  /** The ready profile that it builds on; null: none. */
  readonly readyId: string | null;
};

/**
 * An agent of AGENTS_CONFIG, in the file's own names (snake_case, like the ACP registry's). Fields that belong neither
 * to Switchyard nor to the registry are refused: a typing error must not be silently ignored. `extends` has already
 * been resolved.
 */
export const profileSchema = z
  .strictObject({
    ...registryFields,
    id: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'must be lower-case letters, digits, ".", "_" and "-"'),
    name: z.string().min(1).optional(),
    extends: z.string().nullable().optional(),
    command: z.array(z.string().min(1)).min(1, 'must name a program').optional(),
    distribution: distributionSchema.optional(),
    env: variables.default({}),
    'auth_method': z.string().nullable().default(null),
    mode: z.string().nullable().default(null),
    config: z.record(z.string().min(1), z.union([z.string(), z.boolean()])).default({}),
    'locked_options': z
      .array(z.string().min(1).max(offerLimits.id))
      .max(offerLimits.options)
      .refine((ids) => new Set(ids).size === ids.length, 'must name each option once')
      .nullable()
      .default(null),
    permission: z.enum(['auto', 'ask', 'deny']).default('auto'),
    mcp: z.boolean().default(true),
    'ask_tool': z.enum(['ask_user', 'ask_the_user']).default('ask_user'),
    'git_identity': z.enum(['system', 'variables']).default('system'),
    instructions: z.enum(['agent', 'service']).default('agent'),
    steer: z.enum(['wait', 'cancel']).default('wait'),
    sandbox: sandboxSchema,
    provider: providerSchema,
    'memory_mb': z.int().min(1).max(1_048_576).default(700),
    'resume_order': z
      .array(z.enum(['resume', 'load', 'new']))
      .min(1)
      .default(['resume', 'load', 'new']),
    'on_end_turn': z.enum(['finished', 'blocked']).default('finished'),
    'warm_ttl_ms': ms(5 * 60_000),
    'start_timeout_ms': z.int().min(1).max(maxMs).default(20_000),
    'retry_delays_ms': z.array(z.int().min(0).max(maxMs)).max(20).default([5_000, 15_000, 60_000]),
    'inactivity_ms': ms(10 * 60_000),
    'max_turn_ms': z.int().min(1).max(maxMs).nullable().default(null),
    'stop_graces_ms': z
      .strictObject({ cancel: ms(10_000), stdin: ms(3_000), term: ms(5_000), interrupt: ms(700) })
      .prefault({}),
  })
  .transform((raw, context): ProfileDraft => {
    if (wantsGateway(raw) && raw.provider && (raw.provider.api === null || raw.provider.base_url === null)) {
      const message = 'must name "api" and "base_url": the gateway stands before the provider';
      context.addIssue({ code: 'custom', path: ['provider'], message });
    }
    const distributed = startOf(raw.distribution);
    const command = raw.command ?? distributed?.command;
    if (!command) {
      const message = raw.distribution?.binary
        ? 'must name the program: binaries of the registry are not downloaded'
        : 'must be given, or a distribution by npx or uvx';
      context.addIssue({ code: 'custom', path: ['command'], message });
      return z.NEVER;
    }
    return {
      id: raw.id,
      readyId: raw.extends ?? null,
      name: raw.name ?? raw.id,
      command,
      env: { ...distributed?.env, ...raw.env },
      authMethod: raw.auth_method,
      mode: raw.mode,
      config: raw.config,
      lockedOptions: raw.locked_options,
      permission: raw.permission,
      mcp: raw.mcp,
      askTool: raw.ask_tool,
      gitIdentity: raw.git_identity,
      instructions: raw.instructions,
      steer: raw.steer,
      sandbox: raw.sandbox,
      provider: raw.provider,
      memoryMb: raw.memory_mb,
      resumeOrder: raw.resume_order,
      onEndTurn: raw.on_end_turn,
      warmTtlMs: raw.warm_ttl_ms,
      startTimeoutMs: raw.start_timeout_ms,
      retryDelaysMs: raw.retry_delays_ms,
      inactivityMs: raw.inactivity_ms,
      maxTurnMs: raw.max_turn_ms,
      stopGraces: {
        cancelMs: raw.stop_graces_ms.cancel,
        stdinMs: raw.stop_graces_ms.stdin,
        termMs: raw.stop_graces_ms.term,
        interruptMs: raw.stop_graces_ms.interrupt,
      },
    };
  });

/** Returns true if the profile uses the gateway: if it says so, or if nothing else is reachable. */
export function wantsGateway(profile: Pick<ProfileDraft, 'provider' | 'sandbox'>): boolean {
  return profile.provider !== null && (profile.provider.gateway ?? profile.sandbox?.network === 'gateway');
}
