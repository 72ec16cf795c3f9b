import type { ModelProvider } from '../../providers/model-providers.ts';
import type { AgentProfile } from '../agent.ts';

/** The providers whose stored keys an agent can use, preferred first; empty: it uses none. */
export function usableProviders({ provider }: AgentProfile): readonly ModelProvider[] {
  return provider?.routes.map((route) => route.provider) ?? [];
}

/**
 * The key that the configuration gives an agent: `present` in the environment, the file, or a key file; `not needed` if the
 * profile names no variable for one.
 */
export function configuredKey({ env, provider }: AgentProfile): 'present' | 'missing' | 'not needed' {
  if (provider === null || provider.variables.length === 0) return 'not needed';
  const hasOwn = provider.key !== null || provider.routes.some(({ own }) => own !== null);
  const isPresent = hasOwn || provider.variables.some((name) => Object.hasOwn(env, name));
  return isPresent ? 'present' : 'missing';
}
