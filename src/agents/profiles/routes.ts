import type { ModelProvider } from '../../providers/model-providers.ts';
import type { DefaultModel, ProviderRoute } from '../provider.ts';

/** A route of a ready agent, without the key of the environment. */
export type RouteDraft = Omit<ProviderRoute, 'own'> & {
  /** Variables with a key for this agent alone, before those of the provider. */
  readonly keyVariables?: readonly string[];
};

/** Replaced by the gateway's address in the variables of an agent. */
export const gatewayUrl = '{url}';
/** Replaced by the key of the run, which only its gateway accepts. */
export const gatewayKey = '{key}';

/** opencode reads its whole configuration from one variable. It must not update itself. */
export const opencodeConfig = { autoupdate: false, share: 'disabled', permission: { edit: 'allow', bash: 'allow' } };

/** The size of all ids of models in a variable: Linux limits a variable to 128 KiB. */
const maxListedCharacters = 40_000;

// Only the provider of the key is enabled: otherwise opencode offers a free service of its makers too.
const opencodeRoute = (
  provider: ModelProvider,
  api: RouteDraft['api'],
  defaultModel: DefaultModel,
  { path = '', npm }: { path?: string; npm?: string } = {},
): RouteDraft => ({
  provider,
  api,
  defaultModel,
  modelPrefix: `${provider}/`,
  env({ model, listed }) {
    // A provider that opencode does not know offers exactly these models; for others, this adds the newest ones.
    const ids = npm === undefined ? [] : withinLimit(listed);
    const models = Object.fromEntries([...ids, ...(model === null ? [] : [model])].map((id) => [id, { name: id }]));
    const options = { baseURL: gatewayUrl + path, apiKey: gatewayKey };
    const known = npm === undefined ? {} : { npm, name: provider };
    const chosen =
      model === null ? {} : { model: `${provider}/${model}`, ...(npm && { 'small_model': `${provider}/${model}` }) };
    return {
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        ...opencodeConfig,
        ...chosen,
        'enabled_providers': [provider],
        provider: { [provider]: { ...known, options, models } },
      }),
    };
  },
});

const codexRoute = (provider: ModelProvider, defaultModel: DefaultModel | null): RouteDraft => ({
  provider,
  api: 'openai',
  defaultModel,
  keyVariables: ['CODEX_API_KEY'],
  modelPrefix: '',
  env: ({ model }) => ({
    CODEX_API_KEY: gatewayKey,
    CODEX_CONFIG: JSON.stringify({ 'openai_base_url': gatewayUrl, ...(model !== null && { model }) }),
  }),
});

const qwenRoute = (provider: ModelProvider, defaultModel: DefaultModel): RouteDraft => ({
  provider,
  api: 'openai',
  defaultModel,
  modelPrefix: '',
  env: ({ model }) => ({
    OPENAI_API_KEY: gatewayKey,
    OPENAI_BASE_URL: gatewayUrl,
    ...(model !== null && { OPENAI_MODEL: model }),
  }),
});

const newestGpt: DefaultModel = { pattern: /^gpt-\d+(\.\d+)?(-sol)?$/, fallback: 'gpt-5' };
const anyModel: DefaultModel = { pattern: null, fallback: null };
const compatible = { npm: '@ai-sdk/openai-compatible' };

/** The routes of ready agents by their ids, in the order in which they are chosen. */
export const readyRoutes: Readonly<Record<string, readonly RouteDraft[]>> = {
  opencode: [
    opencodeRoute('openai', 'openai', newestGpt),
    opencodeRoute(
      'anthropic',
      'anthropic',
      { pattern: /^claude-sonnet-[\d-]+$/, fallback: 'claude-sonnet-4-5' },
      {
        path: '/v1',
      },
    ),
    opencodeRoute(
      'google',
      'gemini',
      { pattern: /^gemini-[\d.]+-pro(-preview)?$/, fallback: 'gemini-2.5-pro' },
      { path: '/v1beta' },
    ),
    opencodeRoute(
      'openrouter',
      'openai',
      { pattern: /^anthropic\/claude-sonnet-[\d.]+$/, fallback: 'anthropic/claude-sonnet-4.5' },
      compatible,
    ),
    opencodeRoute('compatible', 'openai', anyModel, compatible),
  ],
  gemini: [
    {
      provider: 'google',
      api: 'gemini',
      defaultModel: null,
      modelPrefix: '',
      env: ({ model }) => ({
        GEMINI_API_KEY: gatewayKey,
        GOOGLE_GEMINI_BASE_URL: gatewayUrl,
        ...(model !== null && { GEMINI_MODEL: model }),
      }),
    },
  ],
  codex: [codexRoute('openai', null), codexRoute('compatible', anyModel)],
  claude: [
    {
      provider: 'anthropic',
      api: 'anthropic',
      defaultModel: null,
      modelPrefix: '',
      env: ({ model }) => ({
        ANTHROPIC_API_KEY: gatewayKey,
        ANTHROPIC_BASE_URL: gatewayUrl,
        ...(model !== null && { ANTHROPIC_MODEL: model }),
      }),
    },
  ],
  qwen: [
    qwenRoute('openai', newestGpt),
    qwenRoute('compatible', anyModel),
    qwenRoute('openrouter', { pattern: /^qwen\/qwen[\d.]+-coder(-plus)?$/, fallback: 'qwen/qwen3-coder' }),
  ],
};

/** The first models of the list whose ids fit into a variable. */
function withinLimit(ids: readonly string[]): string[] {
  let characters = 0;
  return ids.filter((id) => {
    // Each id is written twice, and may consist of characters of three bytes.
    characters += 2 * id.length + 16;
    return characters <= maxListedCharacters;
  });
}
