import type { Context } from '../../context.ts';
import { DomainError, type Issue } from '../../errors.ts';
import type { OrganizationRecord } from './use-organization.ts';

/** An agent profile as the doors show it. */
export interface AgentRecord {
  /** What sessions and organizations name it by. */
  readonly id: string;
  readonly name: string;
  /** Whether it is taken where neither a session nor its organization names one. */
  readonly isDefault: boolean;
}

/** The agents that sessions may be given, in the order of the configuration; the same for every viewer. */
export function listAgents({ agentProfiles, defaultAgent }: Context): AgentRecord[] {
  return [...agentProfiles.values()].map((profile) => toRecord(profile, defaultAgent));
}

/** The agent of an id; null for none, and for one that is not configured. */
export function findAgent({ agentProfiles, defaultAgent }: Context, id: string | null): AgentRecord | null {
  const profile = id === null ? undefined : agentProfiles.get(id);
  return profile ? toRecord(profile, defaultAgent) : null;
}

const toRecord = ({ id, name }: { readonly id: string; readonly name: string }, defaultAgent: string): AgentRecord => ({
  id,
  name,
  isDefault: id === defaultAgent,
});

/** What is wrong with an agent that an input names, at that path; nothing with one that is left out. */
export function agentIssues({ agentProfiles }: Context, name: string, agent: string | null | undefined): Issue[] {
  if (agent == null || agentProfiles.has(agent)) return [];
  const known = [...agentProfiles.keys()].join(', ');
  return [
    { path: [name], message: `"${name}" must be one of ${known}, but was ${JSON.stringify(agent.slice(0, 80))}.` },
  ];
}

/** UNKNOWN_REFERENCE for an agent that there is not. */
export function requireAgent(context: Context, name: string, agent: string | null | undefined): void {
  const issues = agentIssues(context, name, agent);
  if (issues[0]) throw new DomainError('UNKNOWN_REFERENCE', issues[0].message, issues);
}

/**
 * The agent of an organization's session that names none. UNKNOWN_REFERENCE when the organization's is not configured any
 * more: it may have been chosen for where its words go, so that no other takes its place unasked.
 */
export function defaultAgentOf(context: Context, { defaultAgent }: Pick<OrganizationRecord, 'defaultAgent'>): string {
  if (defaultAgent === null) return context.defaultAgent;
  if (context.agentProfiles.has(defaultAgent)) return defaultAgent;
  const message = `The organization's default agent, ${JSON.stringify(defaultAgent)}, is not configured any more: "agent" must be given, or another default be set.`;
  throw new DomainError('UNKNOWN_REFERENCE', message, [{ path: ['agent'], message }]);
}
