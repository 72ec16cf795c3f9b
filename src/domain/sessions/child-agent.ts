import type { AgentProfile } from '../../agents/agent.ts';
import { strictnessOf } from '../../agents/sandbox/descriptions.ts';
import { findWeakness } from '../../agents/sandbox/strictness.ts';
import { refuse } from '../../common/errors.ts';
import type { Context } from '../context.ts';

/**
 * Checks that the agent of a session may choose this agent for a child session. Otherwise it could escape its sandbox,
 * or avoid its permission requests, by giving instructions to a less confined agent. Throws INVALID_INPUT. An unknown
 * agent is refused elsewhere.
 */
export function requireChildAgent({ agentProfiles }: Context, parent: string, child: string): void {
  const chosen = agentProfiles.get(child);
  if (child === parent || chosen === undefined) return;
  const own = agentProfiles.get(parent);
  const reason =
    own === undefined ? `${JSON.stringify(parent)} is not configured any more` : lessStrictReason(own, chosen);
  if (reason === null) return;
  const message = `"agent" must be this session's own, ${JSON.stringify(parent)}, or one that is kept as strictly, but was ${JSON.stringify(child)}: ${reason}.`;
  throw refuse(['agent'], message);
}

// Permission modes by how much they allow without the user.
const permissionLevels = { deny: 0, ask: 1, auto: 2 } as const satisfies Record<AgentProfile['permission'], number>;

// Returns the respect in which the child is less confined, or may be; null: none.
function lessStrictReason(parent: AgentProfile, child: AgentProfile): string | null {
  if (permissionLevels[child.permission] > permissionLevels[parent.permission]) {
    return `its permission is "${child.permission}", not "${parent.permission}"`;
  }
  return findWeakness(strictnessOf(parent.sandbox), strictnessOf(child.sandbox));
}
