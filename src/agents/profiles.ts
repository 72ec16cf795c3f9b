import { dirname, resolve } from 'node:path';
import type { AgentProfile } from './agent.ts';
import type { ReadVariable } from './profiles/environment-keys.ts';
import { expandEntry, readProfilesFile } from './profiles/load-file.ts';
import { withKeys } from './profiles/provider-settings.ts';
import { type ProfileDraft, profileSchema } from './profiles/schema.ts';
import { describeDriver } from './sandbox/descriptions.ts';

/** The profiles of the file of AGENTS_CONFIG and the demo agent, and the default one. */
export interface AgentProfiles {
  readonly profiles: ReadonlyMap<string, AgentProfile>;
  readonly defaultId: string;
  /** True if the file lists the agents: no others are searched for. */
  readonly isListed: boolean;
  /** True if the file decides the default agent: it names one, or it lists agents. */
  readonly isDefaultChosen: boolean;
}

export type { ReadVariable };

const noVariable: ReadVariable = () => undefined;

/**
 * Loads the built-in demo agent, and the agents that the file of AGENTS_CONFIG (`{"default": id, "agents": […]}`) adds
 * or replaces. An entry of the ACP registry is a valid agent, and so is the id of a predefined one. A provider's keys
 * that are not in the file come from the variables of this process. Throws one error that lists all problems of the
 * file, by path.
 */
export async function loadProfiles(
  path: string | null,
  readVariable: ReadVariable = noVariable,
): Promise<AgentProfiles> {
  const demo = await readyProfile('demo', readVariable);
  const profiles = new Map([[demo.id, demo]]);
  if (path === null) return { profiles, defaultId: demo.id, isListed: false, isDefaultChosen: false };
  const { default: chosen, agents } = await readProfilesFile(path);
  for (const draft of agents ?? []) profiles.set(draft.id, await finish(draft, dirname(resolve(path)), readVariable));
  const defaultId = chosen ?? agents?.[0]?.id ?? demo.id;
  return { profiles, defaultId, isListed: agents !== undefined, isDefaultChosen: (chosen ?? agents) !== undefined };
}

/** A predefined profile without changes from a file. Throws a sentence that lists the ids if this one is unknown. */
export function readyProfile(id: string, readVariable: ReadVariable = noVariable): Promise<AgentProfile> {
  const entry = expandEntry(id, (_field, message) => {
    throw new Error(`There is no ready profile "${id}": it ${message.replace(', or an object', '')}.`);
  });
  return finish(profileSchema.parse(entry), process.cwd(), readVariable);
}

/**
 * The profile of a ready agent whose program was found: the predefined one, with the gateway if the agent can use it, so
 * that the agent never has the key.
 */
export function detectedProfile(id: string, readVariable: ReadVariable): Promise<AgentProfile> {
  const entry = expandEntry(id, () => undefined);
  return finish(profileSchema.parse(entry), process.cwd(), readVariable, true);
}

// Paths are relative to the file's directory: the agent's own working directory is the session's.
async function finish(
  { readyId, ...draft }: ProfileDraft,
  directory: string,
  readVariable: ReadVariable,
  isDetected = false,
): Promise<AgentProfile> {
  const { sandbox } = draft;
  const [program = '', ...args] = draft.command;
  const isOnHost = describeDriver(sandbox).runsHostPrograms && program.includes('/');
  const readOnly = sandbox?.readOnly.map((path) => resolve(directory, path)) ?? [];
  return {
    ...draft,
    command: [isOnHost ? resolve(directory, program) : program, ...args],
    sandbox: sandbox && { ...sandbox, readOnly },
    ...(await withKeys({ readyId, ...draft }, { directory, readVariable, isDetected })),
  };
}
