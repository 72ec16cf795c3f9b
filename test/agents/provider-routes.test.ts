import { expect, it } from 'vitest';
import type { AgentProfile } from '../../src/agents/agent.ts';
import { defaultModelOf, environmentRoute, modelIdOf, withRoute } from '../../src/agents/profiles/route-launch.ts';
import { detectedProfile, readyProfile } from '../../src/agents/profiles.ts';
import type { ProviderRoute } from '../../src/agents/provider.ts';

const detect = (id: string, variables: Record<string, string> = {}) => detectedProfile(id, (name) => variables[name]);
const routesOf = ({ provider }: AgentProfile) => provider?.routes ?? [];
const routeTo = (profile: AgentProfile, provider: string) =>
  routesOf(profile).find((route) => route.provider === provider) as ProviderRoute;

it.each([
  ['opencode', ['openai', 'anthropic', 'google', 'openrouter', 'compatible']],
  ['gemini', ['google']],
  ['codex', ['openai', 'compatible']],
  ['claude', ['anthropic']],
  ['qwen', ['openai', 'compatible', 'openrouter']],
])('%s calls the providers of its routes', async (id, providers) => {
  expect(routesOf(await detect(id)).map(({ provider }) => provider)).toEqual(providers);
});

it.each<[string, Record<string, string>, object | null]>([
  ['opencode', {}, null],
  [
    'opencode',
    { ANTHROPIC_API_KEY: 'k' },
    { provider: 'anthropic', own: { key: 'k', baseUrl: 'https://api.anthropic.com' } },
  ],
  ['opencode', { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'https://api.openai.com/v1/' }, { provider: 'openai' }],
  // The key of a server of one's own must not go to OpenAI.
  [
    'opencode',
    { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1' },
    { provider: 'compatible', own: { key: 'k', baseUrl: 'http://127.0.0.1:11434/v1' } },
  ],
  [
    'qwen',
    { OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1' },
    { provider: 'compatible', own: { key: null, source: 'the variable OPENAI_BASE_URL of the service' } },
  ],
  ['claude', { OPENAI_API_KEY: 'k' }, null],
  [
    'gemini',
    { GOOGLE_API_KEY: 'k' },
    { provider: 'google', own: { source: 'the variable GOOGLE_API_KEY of the service' } },
  ],
  ['codex', { CODEX_API_KEY: 'c', OPENAI_API_KEY: 'k' }, { provider: 'openai', own: { key: 'c' } }],
  ['codex', { OPENAI_API_KEY: '', OPENAI_BASE_URL: 'not an address' }, null],
])('%s finds the keys of the environment %j', async (id, variables, expected) => {
  const route = environmentRoute(await detect(id, variables));
  if (expected === null) expect(route).toBeNull();
  else expect(route).toMatchObject(expected);
});

it('keeps the key from the agent, and gives it the address of the gateway and the models', async () => {
  const profile = await detect('opencode', { OPENAI_API_KEY: 'sk-c4n4ry' });
  const route = routeTo(profile, 'compatible');
  const models = { model: 'm"1', listed: ['m"1', 'm2'] };
  const key = { key: 'sk-c4n4ry', source: 'the key', baseUrl: 'https://models.example/v1' };
  const { env, provider } = withRoute(profile, { route, key, models });
  expect(provider).toMatchObject({
    key: 'sk-c4n4ry',
    gateway: { api: 'openai', baseUrl: 'https://models.example/v1' },
  });
  const config = JSON.parse(provider?.gateway?.env.OPENCODE_CONFIG_CONTENT as string);
  expect(config).toMatchObject({ model: 'compatible/m"1', enabled_providers: ['compatible'], autoupdate: false });
  expect(Object.keys(config.provider.compatible.models)).toEqual(['m"1', 'm2']);
  expect(JSON.stringify([env, provider?.gateway])).not.toContain('sk-c4n4ry');
});

it('keeps the variable of the models within the limit of the system', async () => {
  const route = routeTo(await detect('opencode'), 'openrouter');
  const listed = Array.from({ length: 1_000 }, (_, n) => `${n}${'€'.repeat(190)}`);
  for (const value of Object.values(route.env({ model: listed[0] as string, listed }))) {
    expect(Buffer.byteLength(value)).toBeLessThan(128 * 1_024);
  }
});

it.each([
  ['openai', ['text-embedding-3-large', 'gpt-4.1', 'gpt-5.9', 'gpt-5.10', 'gpt-5.10-mini'], 'gpt-5.10'],
  ['openai', ['whisper-1', 'o9'], 'o9'],
  ['openai', null, 'gpt-5'],
  [
    'anthropic',
    ['claude-sonnet-4-20250514', 'claude-sonnet-4-5-20250929', 'claude-opus-9'],
    'claude-sonnet-4-5-20250929',
  ],
  ['compatible', ['nomic-embed-text', 'llama3.2:3b', 'qwen3'], 'llama3.2:3b'],
  ['compatible', ['nomic-embed-text'], null],
  ['compatible', null, null],
])('opencode uses a listed model of %s if nobody chooses one: %j', async (provider, listed, expected) => {
  expect(defaultModelOf(routeTo(await detect('opencode'), provider), listed)).toBe(expected);
});

it('leaves the model to an agent that has its own default', async () => {
  expect(defaultModelOf(routeTo(await detect('claude'), 'anthropic'), ['claude-opus-9'])).toBeNull();
});

it('reads the id of a model from the option of the agent', async () => {
  const route = routeTo(await detect('opencode'), 'openrouter');
  expect(modelIdOf(route, 'openrouter/openai/gpt-5')).toBe('openai/gpt-5');
  expect(modelIdOf(route, 'openai/gpt-5')).toBe('openai/gpt-5');
});

it('has the routes of a ready profile, but not of one whose provider is set up in another way', async () => {
  expect(routesOf(await readyProfile('opencode'))).toHaveLength(5);
  expect((await readyProfile('opencode')).provider?.isKeyRequired).toBe(false);
  expect((await detect('opencode')).provider?.isKeyRequired).toBe(true);
  expect(routesOf(await readyProfile('cline'))).toEqual([]);
});
