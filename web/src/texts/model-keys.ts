import { writeCount } from '../ui/money.ts';
import { type Numbers, plural, rich, type Strings } from './kit.ts';

export const baseUrl = {
  notAnAddress: ({ example }: Strings<'example'>) =>
    `Enter an address that starts with https:// or http://, such as ${example}.`,
};

export const keyDialog = {
  newTitle: 'Add model key',
  add: 'Add key',
  replaceKey: 'Replace key',
};

export const keyFields = {
  priceLabels: { inputUsdPerMillion: 'Input', cachedUsdPerMillion: 'Cached input', outputUsdPerMillion: 'Output' },
  baseUrl: 'Base URL',
  baseUrlExample: 'http://localhost:11434/v1',
  providerAddress: 'Provider’s default address',
  baseUrlHint: 'The address of your server, such as Ollama, vLLM or LiteLLM. It usually ends with /v1.',
  noKey: 'No key',
  keyHintMoved: 'Enter the key again, because the base URL changes.',
  keyHintNew: rich('You won’t be able to view the key again. <link>Create a key on {provider}</link>'),
  keyHintKept: 'Leave empty to keep the current key.',
  keyHintOptional: 'Leave empty if the server needs no key. You won’t be able to view the key again.',
  keyHint: 'You won’t be able to view the key again.',
  budget: 'Monthly budget (USD)',
  noBudget: 'No limit',
  budgetHintPrices:
    'When the budget is spent, sessions that use the key are suspended. It resets each calendar month (UTC). Your own server needs prices for a budget.',
  budgetHint: 'When the budget is spent, sessions that use the key are suspended. It resets each calendar month (UTC).',
  prices: 'Prices',
  baseUrlAndPrices: 'Base URL and prices',
  priceUnit: 'USD per million tokens',
  pricesHintOwnServer: 'Used to compute the cost of calls. A budget needs prices.',
  pricesHint: 'Used to compute the cost of calls. Without them, the cost comes from the provider or its list prices.',
};

export const keyForm = {
  useAnyway: 'Use anyway',
  testKey: 'Test key',
  testing: 'Testing…',
};

export const keyList = {
  spentThisMonth: 'Spent this month',
  usage: 'Usage',
  lastUsed: rich('Last used {time}'),
  newKey: 'Add key',
  deleteText: 'Sessions will no longer be able to use this key. This can’t be undone.',
};

export const keyState = {
  failureLabels: {
    KEY_REFUSED: 'Key refused',
    ACCOUNT_EMPTY: 'Out of credit',
    NOT_REACHABLE: 'Unreachable',
    NOT_FOUND: 'Not found',
    RATE_LIMITED: 'Rate limited',
    PROVIDER_ERROR: 'Provider error',
    UNEXPECTED_ANSWER: 'Unexpected response',
  },
  unreachable: ({ provider }: Strings<'provider'>) =>
    `Couldn’t reach ${provider}. Check the server’s internet access or proxy.`,
  budgetSpent: 'Budget spent',
  works: 'Works',
  notUsedYet: 'Not used yet',
};

export const keyTest = {
  noResult: 'The test returned no result.',
};

export const keyUsage = {
  spentOf: ({ spent, budget }: Strings<'spent' | 'budget'>) => `${spent} of ${budget}`,
  spentPart: 'Share of the budget spent',
  calls: ({ count }: Numbers<'count'>) => plural(count, { one: '# call', other: '# calls' }, writeCount(count)),
  tokens: ({ input, output }: Strings<'input' | 'output'>) => `${input} in, ${output} out`,
  tokensWithCached: ({ input, cached, output }: Strings<'input' | 'cached' | 'output'>) =>
    `${input} in (${cached} cached), ${output} out`,
};

export const modelKeysPage = {
  noAccessTitle: 'You can’t manage model keys',
  noAccessText: 'Ask an administrator for the “Manage secrets” permission or an enterprise role.',
  myModelKeys: 'My model keys',
  modelKeys: 'Model keys',
  usagePeriod: 'Usage period',
  intro:
    'Agents call models with these keys but never see them. A session uses the first key it finds: its user’s, its organization’s, the enterprise’s, then the one configured on the server.',
  organizationTitle: ({ name }: Strings<'name'>) => `Organization ${name}`,
  organizationHint: 'For sessions in this organization whose user has no key.',
  organizationEmpty: 'No keys in this organization. Add a key for all its members.',
  enterpriseHint: 'For sessions in organizations that have no key.',
  enterpriseEmpty: 'No enterprise keys. Add a key for all organizations.',
};

export const myModelKeysPage = {
  noModelKeys: 'No model keys',
  usersOnly: 'Only users who can start sessions have keys of their own.',
  myModelKeys: 'My model keys',
  intro:
    'Your sessions use your own keys first. Nobody else can see, use or test them, not even administrators. Agents never see them.',
  yourKeys: 'Your keys',
  hint: 'For your sessions in all organizations.',
  empty: 'You have no keys of your own. Your sessions use the organization’s key, if there is one.',
};

export const period = {
  periods: { month: 'This month', before: 'Last month', quarter: 'Last 90 days' },
};

export const providers = {
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  google: 'Google',
  openrouter: 'OpenRouter',
  openaiCompatibleServer: 'OpenAI-compatible server',
  otherProvider: 'Other provider',
};
