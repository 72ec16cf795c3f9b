import { isDeepStrictEqual } from 'node:util';
import type { AgentProfile } from '../agent.ts';
import { strictnessOf } from '../sandbox/descriptions.ts';
import { readyEntries } from './ready.ts';

/**
 * The warning for an operator whose agents share the network of their host, which is so without a sandbox and with the
 * network `shared`; null if none do. A server that such an agent starts has the host's name, and browsers send the
 * console's cookie to every port of that name. The demo agent has no model and starts no servers.
 */
export function sharedNetworkWarning(profiles: Iterable<AgentProfile>): string | null {
  const ids = [...profiles].filter(sharesNetwork).map(({ id }) => `"${id}"`);
  if (ids.length === 0) return null;
  return (
    `These agents share the network of their host: ${ids.join(', ')}. A browser that is signed in to the console sends its cookie to ` +
    'servers that they start; the cookie alone gives no access. Do not open such servers in that browser, or set ' +
    '"network": "gateway" in the sandbox of the agents (docs/security.md, "Signed in to the console").'
  );
}

const sharesNetwork = ({ command, sandbox }: AgentProfile) =>
  strictnessOf(sandbox).weakest.network === 'host' && !isDeepStrictEqual(command, readyEntries.demo?.command);
