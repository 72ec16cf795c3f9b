import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { readyEntries, registryIds } from './ready.ts';
import { type ProfileDraft, profileSchema } from './schema.ts';

const fileSchema = z.strictObject({
  $schema: z.unknown().optional(),
  default: z.string().optional(),
  agents: z.array(profileSchema).optional(),
});

/** The content of the file of AGENTS_CONFIG. */
export interface ProfilesFile {
  readonly default: string | undefined;
  /** Undefined: the file lists no agents, so that the service searches for the programs of the ready ones. */
  readonly agents: readonly ProfileDraft[] | undefined;
}

/** Reads and validates the file. Throws one error that lists all its problems, by path. */
export async function readProfilesFile(path: string): Promise<ProfilesFile> {
  let json: unknown;
  try {
    json = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new Error(`AGENTS_CONFIG (${path}) cannot be read as JSON: ${(error as Error).message}`, { cause: error });
  }
  const problems: string[] = [];
  const result = fileSchema.safeParse(expand(json, problems));
  problems.unshift(...(result.success ? [] : result.error.issues).flatMap(linesOf));
  problems.push(...findIdProblems(json));
  if (!result.success || problems.length > 0)
    throw new Error(`AGENTS_CONFIG (${path}) has problems:\n${problems.map((line) => `  ${line}`).join('\n')}`);
  return { default: result.data.default, agents: result.data.agents };
}

// Replaces an unknown predefined profile: its problem is reported once, and the schema must not add another.
const placeholder = { id: 'stranger', command: ['stranger'] };

/** An entry in the schema's form. Missing fields come from the predefined profile that it extends. */
export function expandEntry(raw: unknown, report: (field: string, message: string) => void): unknown {
  if (typeof raw === 'string') {
    if (!Object.hasOwn(readyEntries, raw)) {
      report('', `must be one of ${Object.keys(readyEntries).join(', ')}, or an object`);
      return placeholder;
    }
    return expandEntry({ id: raw }, report);
  }
  if (!isObject(raw)) return raw;
  const isNamed = typeof raw.extends === 'string';
  const base = isNamed ? raw.extends : raw.extends === undefined ? idOfReady(raw.id) : null;
  if (typeof base !== 'string' || !Object.hasOwn(readyEntries, base)) {
    if (isNamed) report('extends', `must be one of ${Object.keys(readyEntries).join(', ')}`);
    return isNamed ? { command: placeholder.command, ...raw } : raw;
  }
  const ready: Record<string, unknown> = { ...readyEntries[base] };
  const { npx, uvx } = isObject(raw.distribution) ? raw.distribution : {};
  // Two agents with the same name could not be distinguished.
  if (isNamed && base !== raw.id) delete ready.name;
  const { command, ...others } = ready;
  // An entry of the registry defines the start command itself, unless its distribution is a binary, which must already
  // be installed.
  const start = npx !== undefined || uvx !== undefined ? {} : { command };
  const merged: Record<string, unknown> = { ...others, ...start, ...raw, extends: base };
  for (const name of ['env', 'provider', 'config']) {
    if (isObject(ready[name]) && isObject(raw[name])) merged[name] = { ...ready[name], ...raw[name] };
  }
  return merged;
}

function idOfReady(id: unknown): unknown {
  return typeof id === 'string' && Object.hasOwn(registryIds, id) ? registryIds[id] : id;
}

function expand(json: unknown, problems: string[]): unknown {
  if (!isObject(json) || !Array.isArray(json.agents)) return json;
  const agents = json.agents.map((raw: unknown, n) =>
    expandEntry(raw, (field, message) => problems.push(`agents.${n}${field && `.${field}`}: ${message}`)),
  );
  return { ...json, agents };
}

function linesOf(issue: z.core.$ZodIssue): string[] {
  const path = issue.path.join('.');
  if (issue.code === 'invalid_type') return [`${path || '(file)'}: must be ${article(issue.expected)}`];
  if (issue.code !== 'unrecognized_keys') return [`${path || '(file)'}: ${issue.message}`];
  return issue.keys.map((key) => `${path === '' ? key : `${path}.${key}`}: is not a field that is known here`);
}

// The schema library's messages are written for programmers.
function article(type: string): string {
  const name = type === 'record' ? 'object' : type === 'int' ? 'integer' : type;
  return `${/^[aeio]/.test(name) ? 'an' : 'a'} ${name}`;
}

// Problems that concern several agents. Checked on the raw file, so that they are reported together with all others.
function findIdProblems(json: unknown): string[] {
  const { default: chosen, agents } = (json ?? {}) as { default?: unknown; agents?: unknown };
  if (agents === undefined && typeof chosen === 'string' && !Object.hasOwn(readyEntries, chosen)) {
    return [`default: there is no ready agent "${chosen}". There are: ${Object.keys(readyEntries).join(', ')}.`];
  }
  if (!Array.isArray(agents)) return [];
  const ids = agents.map((agent: unknown) => (isObject(agent) ? agent.id : agent));
  const problems = ids.flatMap((id, n) =>
    typeof id === 'string' && ids.indexOf(id) < n ? [`agents.${n}.id: "${id}" is the id of an agent above it.`] : [],
  );
  if (typeof chosen === 'string' && chosen !== 'demo' && !ids.includes(chosen)) {
    problems.push(`default: there is no agent "${chosen}".`);
  }
  return problems;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
