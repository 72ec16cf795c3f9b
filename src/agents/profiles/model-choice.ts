import type { AgentProfile } from '../agent.ts';

/**
 * A sentence for each profile whose agent would choose its model itself. opencode then does not choose a model of its
 * configured provider, but one of a free service of its makers, which also bypasses the gateway.
 */
export function unchosenModels(profiles: Iterable<AgentProfile>): string[] {
  return [...profiles].filter(leavesModelOpen).map(({ id, provider }) => {
    const has = provider?.gateway ? 'has a provider behind the gateway, but' : 'has';
    return (
      `The agent "${id}" ${has} no config.model: opencode then takes a model of its own choice, which may be of a free ` +
      'service of its makers. Name one, such as "config": { "model": "openai/gpt-5" }.'
    );
  });
}

function leavesModelOpen({ config, env, provider }: AgentProfile): boolean {
  // Each run then names a model; see routes.ts.
  if (provider?.isKeyRequired) return false;
  // Only opencode reads it. The gateway's variables take precedence over the agent's own.
  const written = provider?.gateway?.env.OPENCODE_CONFIG_CONTENT ?? env.OPENCODE_CONFIG_CONTENT;
  if (written === undefined || 'model' in config) return false;
  try {
    const settings: unknown = JSON.parse(written);
    return typeof settings === 'object' && settings !== null && !('model' in settings);
  } catch {
    // Comments are allowed in it: an operator who writes them has configured it on purpose.
    return false;
  }
}
