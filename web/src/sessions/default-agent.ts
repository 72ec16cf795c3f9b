/** An agent that new sessions may use. */
interface OfferedAgent {
  readonly agentId: string;
  readonly isDefault: boolean;
  /** The source of its key for the viewer's sessions; null: unknown. */
  readonly keySource: string | null | undefined;
}

const storedKeys: readonly unknown[] = ['USER', 'ORGANIZATION', 'ENTERPRISE'];

/**
 * Returns the problem of a session that names no agent. MISSING: the organization's default agent is gone, so the session is
 * refused. DEMO: only the demo agent is left, which does no work. `defaultAgent` null: the organization has none of its own.
 */
export function defaultAgentProblem(
  agents: readonly OfferedAgent[],
  defaultAgent: string | null,
): 'MISSING' | 'DEMO' | null {
  if (defaultAgent !== null) return agents.some(({ agentId }) => agentId === defaultAgent) ? null : 'MISSING';
  // The service prefers an agent with a stored key.
  if (agents.some(({ keySource }) => storedKeys.includes(keySource))) return null;
  return agents.find(({ isDefault }) => isDefault)?.agentId === 'demo' ? 'DEMO' : null;
}
