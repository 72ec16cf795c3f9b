import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { AgentProfile } from './agent.ts';

/** The profiles of this process and which one is used when a session names none. */
export interface AgentProfiles {
  readonly profiles: ReadonlyMap<string, AgentProfile>;
  readonly defaultId: string;
}

const ms = (fallback: number) => z.number().min(0).default(fallback);

// The file's words are snake_case, like the ACP registry's entries, whose further fields (version, distribution …) may stay.
const profileSchema = z
  .looseObject({
    id: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'must be lower-case letters, digits, ".", "_" and "-"'),
    name: z.string().min(1).optional(),
    command: z.array(z.string().min(1)).min(1, 'must name a program'),
    env: z.record(z.string(), z.string()).default({}),
    'auth_method': z.string().nullable().default(null),
    mode: z.string().nullable().default(null),
    permission: z.enum(['auto', 'ask', 'deny']).default('auto'),
    'resume_order': z
      .array(z.enum(['resume', 'load', 'new']))
      .min(1)
      .default(['resume', 'load', 'new']),
    'on_end_turn': z.enum(['finished', 'blocked']).default('finished'),
    'warm_ttl_ms': ms(5 * 60_000),
    'retry_delays_ms': z.array(z.number().min(0)).max(20).default([5_000, 15_000, 60_000]),
    'inactivity_ms': ms(10 * 60_000),
    'stop_graces_ms': z.object({ cancel: ms(10_000), stdin: ms(3_000), term: ms(5_000) }).prefault({}),
  })
  .transform(
    (raw): AgentProfile => ({
      id: raw.id,
      name: raw.name ?? raw.id,
      command: raw.command,
      env: raw.env,
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
    }),
  );

const fileSchema = z.strictObject({ default: z.string().optional(), agents: z.array(profileSchema) });

/**
 * The built-in demo agent and what the file of AGENTS_CONFIG (`{"default": id, "agents": […]}`) adds or replaces. Throws
 * one error that lists everything wrong with the file, by path.
 */
export async function loadProfiles(path: string | null): Promise<AgentProfiles> {
  const demo = profileSchema.parse({ id: 'demo', name: 'Demo agent', command: demoCommand() });
  const profiles = new Map([[demo.id, demo]]);
  if (path === null) return { profiles, defaultId: demo.id };
  const file = await readProfilesFile(path);
  for (const profile of file.agents) profiles.set(profile.id, profile);
  const defaultId = file.default ?? file.agents[0]?.id ?? demo.id;
  if (!profiles.has(defaultId)) {
    throw new Error(`AGENTS_CONFIG (${path}) has a problem:\n  default: there is no agent "${defaultId}".`);
  }
  return { profiles, defaultId };
}

async function readProfilesFile(path: string): Promise<z.output<typeof fileSchema>> {
  let json: unknown;
  try {
    json = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new Error(`AGENTS_CONFIG (${path}) cannot be read as JSON: ${(error as Error).message}`, { cause: error });
  }
  const result = fileSchema.safeParse(json);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => `  ${issue.path.join('.') || '(file)'}: ${issue.message}`);
  throw new Error(`AGENTS_CONFIG (${path}) has problems:\n${problems.join('\n')}`);
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
