import type { AgentProfile } from '../../../agents/agent.ts';
import type { ProfileRegistry } from '../../../agents/profile-registry.ts';
import { DomainError, type Issue } from '../../../common/errors.ts';
import type { Context } from '../../context.ts';

/** An agent profile as the APIs show it. */
export interface AgentRecord {
  /** The id by which sessions and organizations refer to it. */
  readonly id: string;
  readonly name: string;
  /** True for the agent of sessions if neither they nor their organization name one. */
  readonly isDefault: boolean;
  readonly steer: AgentProfile['steer'];
  /** The version of the program; null: unknown. */
  readonly version: string | null;
}

/** Lists the agents that sessions may use, in the order of the configuration; the same for every viewer. */
export function listAgents({ agents }: Context): AgentRecord[] {
  return [...agents.profiles.values()].map((profile) => toRecord(profile, agents));
}

/** Returns the agent of an id; null if the id is null or the agent is not configured. */
export function findAgent({ agents }: Context, id: string | null): AgentRecord | null {
  const profile = id === null ? undefined : agents.profiles.get(id);
  return profile ? toRecord(profile, agents) : null;
}

const toRecord = ({ id, name, steer }: AgentProfile, { defaultId, versionOf }: ProfileRegistry): AgentRecord => ({
  id,
  name,
  isDefault: id === defaultId,
  steer,
  version: versionOf(id),
});

/** Returns the issue of an unknown agent in an input, at that path; none if the input omits the agent. */
export function agentIssues({ agentProfiles }: Context, name: string, agent: string | null | undefined): Issue[] {
  if (agent == null || agentProfiles.has(agent)) return [];
  const known = [...agentProfiles.keys()].join(', ');
  return [
    { path: [name], message: `"${name}" must be one of ${known}, but was ${JSON.stringify(agent.slice(0, 80))}.` },
  ];
}

/** Throws UNKNOWN_REFERENCE for an agent that does not exist. */
export function requireAgent(context: Context, name: string, agent: string | null | undefined): void {
  const issues = agentIssues(context, name, agent);
  if (issues[0]) throw new DomainError('UNKNOWN_REFERENCE', issues[0].message, issues);
}
