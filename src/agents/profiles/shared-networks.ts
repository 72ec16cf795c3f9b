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
    `Agents of these profiles share the network of their host: ${ids.join(', ')}. A server that such an agent starts can be ` +
    'opened under the host’s name, and browsers that are signed in to the console send it their cookie. The cookie alone gives ' +
    'no access, but do not open such servers in a browser that is signed in. To rule this out, set "network": "gateway" in the ' +
    'sandbox of the profiles, or serve the console under a host name where no agent runs (BASE_URL).'
  );
}

const sharesNetwork = ({ command, sandbox }: AgentProfile) =>
  strictnessOf(sandbox).weakest.network === 'host' && !isDeepStrictEqual(command, readyEntries.demo?.command);
