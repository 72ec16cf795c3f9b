import type { ModelProvider } from '../providers/model-providers.ts';
import type { AgentProfile } from './agent.ts';
import { configuredKey, usableProviders } from './profiles/usable-providers.ts';
import { type AgentProfiles, detectedProfile, loadProfiles, type ReadVariable } from './profiles.ts';
import { type FoundProgram, findPrograms, type ProgramDirectories } from './programs/find-programs.ts';
import { agentPackages } from './programs/packages.ts';
import { describeDriver } from './sandbox/descriptions.ts';

/** A program that a worker has, as other processes see it. */
export interface PublishedProgram {
  readonly agentId: string;
  /** Null: unknown. */
  readonly version: string | null;
  /** True if the environment of the worker has a key for the agent. */
  readonly hasKey: boolean;
}

/** Facts from the database that decide which agents are available, and which one is the default. */
export interface SharedFacts {
  /** The programs of all live workers. */
  readonly published: readonly PublishedProgram[];
  /** The providers of the keys of the enterprise. */
  readonly storedProviders: readonly ModelProvider[];
}

/** The source of an agent's key: a stored key of the enterprise, or the environment or a file of the service. */
export type CommonKeySource = 'ENTERPRISE' | 'ENVIRONMENT' | 'NOT_NEEDED' | 'NONE';

/** The profiles of this process. They change when a program is installed or removed, and with the keys. */
export interface ProfileRegistry {
  readonly profiles: ReadonlyMap<string, AgentProfile>;
  /** The agent of sessions if neither they nor their organization name one. */
  readonly defaultId: string;
  /**
   * Detected agents without a key for everybody, in the order of preference: a session whose organization or user has a key
   * for one runs on it instead of the default. Empty if the default is a detected agent or the file's.
   */
  readonly keylessIds: readonly string[];
  /** Detected agents whose programs only other workers have: their sessions are left to those workers. */
  readonly elsewhereIds: readonly string[];
  /** True if the file of AGENTS_CONFIG decides the default. */
  readonly isDefaultChosen: boolean;
  /** True if that file lists the agents, so that no others are searched for. */
  readonly isListed: boolean;
  /** The programs of this host, by agent. */
  readonly programs: ReadonlyMap<string, FoundProgram>;
  /** Returns the version of an agent's program, here or in another worker; null: unknown. */
  versionOf(agentId: string): string | null;
  /** Returns where the key comes from that an agent has in every session, unless the session has another one. */
  keySourceOf(agentId: string): CommonKeySource;
  /** Returns the providers whose stored keys an agent can use, also if its program is missing. The preferred one is first. */
  providersOf(agentId: string): readonly ModelProvider[];
  /** Searches for the programs again. Facts that are omitted stay as they were. */
  refresh(facts?: Partial<SharedFacts>): Promise<void>;
}

/** Options of {@link openProfileRegistry}. */
export interface RegistryOptions extends ProgramDirectories {
  /** The file of AGENTS_CONFIG; null: none. */
  readonly agentsConfig: string | null;
  readonly readVariable: ReadVariable;
}

/** Reads the file of AGENTS_CONFIG, which is read once, and finds the programs. Rejects if the file has problems. */
export async function openProfileRegistry(options: RegistryOptions): Promise<ProfileRegistry> {
  const { agentsConfig, readVariable, ...directories } = options;
  const loaded = await loadProfiles(agentsConfig, readVariable);
  // The order of preference.
  const ids = Object.keys(agentPackages);
  const known = new Map(
    await Promise.all(ids.map(async (id) => [id, await detectedProfile(id, readVariable)] as const)),
  );
  const ready = loaded.isListed ? new Map<string, AgentProfile>() : known;
  let facts: SharedFacts = { published: [], storedProviders: [] };
  let state = compute(loaded, ready, new Map(), facts);
  let latest = 0;

  const profileOf = (agentId: string) => state.profiles.get(agentId) ?? known.get(agentId);

  const registry: ProfileRegistry = {
    get profiles() {
      return state.profiles;
    },
    get defaultId() {
      return state.defaultId;
    },
    get keylessIds() {
      return state.keylessIds;
    },
    get elsewhereIds() {
      return state.elsewhereIds;
    },
    get programs() {
      return state.programs;
    },
    isDefaultChosen: loaded.isDefaultChosen,
    isListed: loaded.isListed,
    versionOf(agentId) {
      const own = state.programs.get(agentId);
      return own ? own.version : (facts.published.find((each) => each.agentId === agentId)?.version ?? null);
    },
    keySourceOf(agentId) {
      const profile = profileOf(agentId);
      return profile === undefined ? 'NONE' : keySourceOf(profile, facts);
    },
    providersOf(agentId) {
      const profile = profileOf(agentId);
      return profile === undefined ? [] : usableProviders(profile);
    },
    async refresh(changed = {}) {
      facts = { ...facts, ...changed };
      latest += 1;
      const turn = latest;
      const programs = await findPrograms(directories);
      // A later search has newer results.
      if (turn === latest) state = compute(loaded, ready, programs, facts);
    },
  };
  await registry.refresh();
  return registry;
}

type State = Pick<ProfileRegistry, 'profiles' | 'defaultId' | 'keylessIds' | 'elsewhereIds' | 'programs'>;

function compute(
  loaded: AgentProfiles,
  ready: ReadonlyMap<string, AgentProfile>,
  programs: ReadonlyMap<string, FoundProgram>,
  facts: SharedFacts,
): State {
  const { published } = facts;
  const isThere = (id: string) => programs.has(id) || published.some(({ agentId }) => agentId === id);
  const detected = [...ready.values()].filter(({ id }) => isThere(id));
  const chosen = loaded.isDefaultChosen ? (ready.get(loaded.defaultId) ?? null) : null;
  // The file's default is shown even without its program: a session on it then says what is missing.
  const added = chosen === null || isThere(chosen.id) ? detected : [...detected, chosen];
  const all = [...loaded.profiles.values(), ...added].map((profile) => withInstalledProgram(profile, programs));
  const profiles = new Map(all.map((profile) => [profile.id, profile]));
  const first = loaded.isDefaultChosen ? undefined : detected.find((profile) => keySourceOf(profile, facts) !== 'NONE');
  const elsewhereIds = detected.filter(({ id }) => !programs.has(id)).map(({ id }) => id);
  const keylessIds = loaded.isDefaultChosen || first ? [] : detected.map(({ id }) => id);
  return { profiles, defaultId: first?.id ?? loaded.defaultId, keylessIds, elsewhereIds, programs };
}

function keySourceOf(profile: AgentProfile, { published, storedProviders }: SharedFacts): CommonKeySource {
  if (usableProviders(profile).some((provider) => storedProviders.includes(provider))) return 'ENTERPRISE';
  const configured = configuredKey(profile);
  if (configured === 'not needed') return 'NOT_NEEDED';
  const isPublished = published.some((each) => each.agentId === profile.id && each.hasKey);
  return configured === 'present' || isPublished ? 'ENVIRONMENT' : 'NONE';
}

// A bare program name is searched in AGENTS_DIR before PATH.
function withInstalledProgram(profile: AgentProfile, programs: ReadonlyMap<string, FoundProgram>): AgentProfile {
  const [program = '', ...args] = profile.command;
  if (!describeDriver(profile.sandbox).runsHostPrograms) return profile;
  const found = [...programs.values()].find(({ agentId, source }) => {
    return source === 'AGENTS_DIRECTORY' && agentPackages[agentId]?.program === program;
  });
  return found ? { ...profile, command: [found.path, ...args] } : profile;
}
