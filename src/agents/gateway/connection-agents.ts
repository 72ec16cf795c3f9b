import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';

/** The connections of one gateway to its provider. */
export interface ConnectionAgents {
  for(target: URL): HttpAgent;
  /** Closes all connections. */
  destroy(): void;
}

/**
 * Creates the connections of one gateway: one connection for each exchange. However a provider interprets a request,
 * nothing follows it.
 */
export function createConnectionAgents(): ConnectionAgents {
  const agents = new Map<string, HttpAgent>();
  return {
    for({ protocol }) {
      const agent =
        agents.get(protocol) ??
        (protocol === 'https:' ? new HttpsAgent({ keepAlive: false }) : new HttpAgent({ keepAlive: false }));
      agents.set(protocol, agent);
      return agent;
    },
    destroy() {
      for (const agent of agents.values()) agent.destroy();
    },
  };
}
