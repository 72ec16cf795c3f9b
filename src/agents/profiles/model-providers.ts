/** The providers of stored provider keys; `compatible` is a server with OpenAI's API at any address. */
export const modelProviders = ['openai', 'anthropic', 'google', 'openrouter', 'compatible'] as const;
/** See {@link modelProviders}. */
export type ModelProvider = (typeof modelProviders)[number];

const byAgent: Readonly<Record<string, readonly ModelProvider[]>> = {
  claude: ['anthropic'],
  codex: ['openai', 'compatible'],
  gemini: ['google'],
  opencode: ['openai', 'anthropic', 'google', 'openrouter', 'compatible'],
  qwen: ['openai', 'compatible', 'openrouter'],
};

/** The providers whose stored keys a ready agent can use, preferred first; empty: it uses none. */
export const modelProvidersOf = (agentId: string): readonly ModelProvider[] =>
  Object.hasOwn(byAgent, agentId) ? (byAgent[agentId] ?? []) : [];
