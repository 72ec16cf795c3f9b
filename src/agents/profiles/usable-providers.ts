import type { ModelProvider } from '../../providers/model-providers.ts';
import type { AgentProfile } from '../agent.ts';

const byAgent: Readonly<Record<string, readonly ModelProvider[]>> = {
  claude: ['anthropic'],
  codex: ['openai', 'compatible'],
  gemini: ['google'],
  opencode: ['openai', 'anthropic', 'google', 'openrouter', 'compatible'],
  qwen: ['openai', 'compatible', 'openrouter'],
};

/** The providers whose stored keys an agent can use, preferred first; empty: it uses none. */
export function usableProviders({ id, provider }: AgentProfile): readonly ModelProvider[] {
  return provider?.gateway && Object.hasOwn(byAgent, id) ? (byAgent[id] ?? []) : [];
}

/**
 * The key that the configuration gives an agent: `present` in the environment, the file, or a key file; `not needed` if the
 * profile names no variable for one.
 */
export function configuredKey({ env, provider }: AgentProfile): 'present' | 'missing' | 'not needed' {
  if (provider === null || provider.variables.length === 0) return 'not needed';
  const isPresent = provider.key !== null || provider.variables.some((name) => Object.hasOwn(env, name));
  return isPresent ? 'present' : 'missing';
}
