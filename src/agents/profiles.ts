import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { AgentProfile } from './agent.ts';

/** The profiles of this process and which one is used when a session names none. */
export interface AgentProfiles {
  readonly profiles: ReadonlyMap<string, AgentProfile>;
  readonly defaultId: string;
}

/** The most that a timer can wait, 24.8 days. */
const mostMs = 2 ** 31 - 1;
const ms = (fallback: number) => z.int().min(0).max(mostMs).default(fallback);
const variables = z.record(z.string().regex(/^[^=\0]+$/, 'must be a name without "="'), z.string());

// How the ACP registry says that an agent is started.
const distributedPackage = z.looseObject({
  package: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: variables.default({}),
});
const distributionSchema = z.looseObject({
  npx: distributedPackage.optional(),
  uvx: distributedPackage.optional(),
  binary: z.unknown().optional(),
});

// The file's words are snake_case, like the ACP registry's entries, whose further fields (version, icon …) may stay.
const profileSchema = z
  .looseObject({
    id: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'must be lower-case letters, digits, ".", "_" and "-"'),
    name: z.string().min(1).optional(),
    command: z.array(z.string().min(1)).min(1, 'must name a program').optional(),
    distribution: distributionSchema.optional(),
    env: variables.default({}),
    'auth_method': z.string().nullable().default(null),
    mode: z.string().nullable().default(null),
    permission: z.enum(['auto', 'ask', 'deny']).default('auto'),
    'resume_order': z
      .array(z.enum(['resume', 'load', 'new']))
      .min(1)
      .default(['resume', 'load', 'new']),
    'on_end_turn': z.enum(['finished', 'blocked']).default('finished'),
    'warm_ttl_ms': ms(5 * 60_000),
    'retry_delays_ms': z.array(z.int().min(0).max(mostMs)).max(20).default([5_000, 15_000, 60_000]),
    'inactivity_ms': ms(10 * 60_000),
    mcp: z.boolean().default(true),
    steer: z.enum(['wait', 'cancel']).default('wait'),
    'stop_graces_ms': z.object({ cancel: ms(10_000), stdin: ms(3_000), term: ms(5_000) }).prefault({}),
  })
  .transform((raw, context): AgentProfile => {
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
      name: raw.name ?? raw.id,
      command,
      env: { ...distributed?.env, ...raw.env },
      authMethod: raw.auth_method,
      mode: raw.mode,
      permission: raw.permission,
      resumeOrder: raw.resume_order,
      onEndTurn: raw.on_end_turn,
      warmTtlMs: raw.warm_ttl_ms,
      retryDelaysMs: raw.retry_delays_ms,
      inactivityMs: raw.inactivity_ms,
      stopGraces: {
        cancelMs: raw.stop_graces_ms.cancel,
        stdinMs: raw.stop_graces_ms.stdin,
        termMs: raw.stop_graces_ms.term,
      },
      mcp: raw.mcp,
      steer: raw.steer,
    };
  });

function startOf(distribution: z.output<typeof distributionSchema> | undefined): {
  command: string[];
  env: Record<string, string>;
} | null {
  const { npx, uvx } = distribution ?? {};
  if (npx) return { command: ['npx', '-y', npx.package, ...npx.args], env: npx.env };
  return uvx ? { command: ['uvx', uvx.package, ...uvx.args], env: uvx.env } : null;
}

const fileSchema = z.strictObject({ default: z.string().optional(), agents: z.array(profileSchema) });

/**
 * The built-in demo agent and what the file of AGENTS_CONFIG (`{"default": id, "agents": […]}`) adds or replaces. An entry
 * of the ACP registry is a valid agent. Throws one error that lists everything wrong with the file, by path.
 */
export async function loadProfiles(path: string | null): Promise<AgentProfiles> {
  const demo = profileSchema.parse({ id: 'demo', name: 'Demo agent', command: demoCommand() });
  const profiles = new Map([[demo.id, demo]]);
  if (path === null) return { profiles, defaultId: demo.id };
  const file = await readProfilesFile(path, demo.id);
  for (const profile of file.agents) profiles.set(profile.id, profile);
  return { profiles, defaultId: file.default ?? file.agents[0]?.id ?? demo.id };
}

async function readProfilesFile(path: string, builtInId: string): Promise<z.output<typeof fileSchema>> {
  let json: unknown;
  try {
    json = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new Error(`AGENTS_CONFIG (${path}) cannot be read as JSON: ${(error as Error).message}`, { cause: error });
  }
  const result = fileSchema.safeParse(json);
  const issues = result.success ? [] : result.error.issues;
  const problems = issues.map((issue) => `  ${issue.path.join('.') || '(file)'}: ${issue.message}`);
  problems.push(...findIdProblems(json, builtInId));
  if (result.success && problems.length === 0) return result.data;
  throw new Error(`AGENTS_CONFIG (${path}) has problems:\n${problems.join('\n')}`);
}

// What concerns several agents; on the unchecked file, so that it is told together with everything else.
function findIdProblems(json: unknown, builtInId: string): string[] {
  const { default: chosen, agents } = (json ?? {}) as { default?: unknown; agents?: unknown };
  if (!Array.isArray(agents)) return [];
  const ids = agents.map((agent: { id?: unknown } | null) => agent?.id);
  const problems = ids.flatMap((id, n) =>
    typeof id === 'string' && ids.indexOf(id) < n ? [`  agents.${n}.id: "${id}" is the id of an agent above it.`] : [],
  );
  if (typeof chosen === 'string' && chosen !== builtInId && !ids.includes(chosen)) {
    problems.push(`  default: there is no agent "${chosen}".`);
  }
  return problems;
}

// From sources (tests, development) the demo agent needs the loader that runs them.
function demoCommand(): string[] {
  if (!import.meta.url.endsWith('.ts'))
    return [process.execPath, fileURLToPath(new URL('demo/main.js', import.meta.url))];
  return [
    process.execPath,
    '--import',
    import.meta.resolve('tsx'),
    fileURLToPath(new URL('demo/main.ts', import.meta.url)),
  ];
}
