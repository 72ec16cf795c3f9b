import { isDeepStrictEqual } from 'node:util';
import type { AgentProfile, SandboxSettings } from '../../agents/agent.ts';
import { isInside } from '../../agents/sandbox/program-files.ts';
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
  const { sandbox: own } = parent;
  const { sandbox: chosen } = child;
  if (own?.driver === 'none') return null;
  if (!isDriverAsStrict(own, chosen)) return 'its sandbox has another driver, or none';
  if (own?.network === 'gateway' && chosen?.network !== 'gateway') return 'the network of its sandbox is not "gateway"';
  const shown = own?.readOnly ?? [];
  const isMoreShown = (chosen?.readOnly ?? []).some((path) => !shown.some((each) => isInside(path, each)));
  return isMoreShown ? 'its sandbox shows more of the host' : null;
}

// Without settings the worker chooses, and another worker may choose differently: so the parent's driver may be none,
// and the child's may be bubblewrap. An operator's command is only known to be as strict as the same command.
function isDriverAsStrict(own: SandboxSettings | null, chosen: SandboxSettings | null): boolean {
  if (own === null) return chosen === null || chosen.driver === 'bwrap';
  if (own.driver === 'bwrap') return chosen?.driver === 'bwrap';
  return chosen?.driver === 'command' && isDeepStrictEqual(own.command, chosen.command);
}
