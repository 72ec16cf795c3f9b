import { expect, it } from 'vitest';
import { describeFailure, readCallFailure, readConnectionFailure } from '../../../src/agents/gateway/call-failures.ts';

const error = (fields: object) => JSON.stringify({ error: fields });

it.each([
  ['OpenAI, wrong key', 401, error({ code: 'invalid_api_key' }), 'KEY_REFUSED'],
  [
    'Google, wrong key',
    400,
    error({ message: 'API key not valid.', details: [{ reason: 'API_KEY_INVALID' }] }),
    'KEY_REFUSED',
  ],
  [
    'a key without a permission',
    403,
    error({ type: 'permission_error', message: 'Your API key does not have it.' }),
    'KEY_REFUSED',
  ],
  ['OpenRouter, no credits', 402, error({ message: 'Insufficient credits' }), 'ACCOUNT_EMPTY'],
  ['OpenAI, no credits', 429, error({ code: 'insufficient_quota' }), 'ACCOUNT_EMPTY'],
  [
    'Anthropic, no credits',
    400,
    error({ message: 'Your credit balance is too low to access the API.' }),
    'ACCOUNT_EMPTY',
  ],
  ['no API', 404, '<h1>Not Found</h1>', 'NOT_FOUND'],
  ['no API, not text', 404, null, 'NOT_FOUND'],
  [
    'Google, limit of requests',
    429,
    error({ message: 'You exceeded your current quota, please check your billing details.' }),
    null,
  ],
  ['a model that is missing', 404, error({ message: 'The model `x` does not exist.' }), null],
  [
    'a model of another project',
    403,
    error({ message: 'The API key has no access to model x', code: 'model_not_found' }),
    null,
  ],
  ['a model that OpenRouter does not have', 404, error({ message: 'No endpoints found for x.' }), null],
  ['a filter of contents', 403, error({ message: 'The input was flagged.' }), null],
  ['a wrong request', 400, error({ message: 'max_tokens is too large' }), null],
  ['a fault', 500, error({ message: 'The authentication service is down: invalid api key' }), null],
])('%s', (_, status, text, expected) => {
  expect(readCallFailure({ status, text }, true)).toBe(expected);
});

it('takes an unknown path for a wrong address only if no call has succeeded', () => {
  expect(readCallFailure({ status: 404, text: '' }, false)).toBeNull();
  expect(readCallFailure({ status: 401, text: '' }, false)).toBe('KEY_REFUSED');
});

it('names the reason for which no connection is possible, but not for errors that may be over in a moment', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 10.1.2.3:80'), { code: 'ECONNREFUSED' });
  expect(readConnectionFailure(refused)).toBe('the connection was refused');
  expect(readConnectionFailure(new AggregateError([new Error('x'), refused]))).toBe('the connection was refused');
  expect(readConnectionFailure(Object.assign(new Error(), { code: 'ECONNRESET' }))).toBeNull();
  expect(readConnectionFailure(undefined)).toBeNull();
});

it('names the key and the remedy', () => {
  const stored = {
    keyId: 'k',
    label: 'the key "Team" of the organization',
    provider: 'openai',
    baseUrl: 'https://api.openai.com/v1',
  } as const;
  expect(describeFailure('KEY_REFUSED', stored)).toBe(
    'OpenAI refuses the key "Team" of the organization. Edit the key in the console (Model keys) and enter a valid one, then send a message to continue the session.',
  );
  const own = {
    ...stored,
    keyId: null,
    label: 'the variable OPENAI_API_KEY of the service',
    baseUrl: 'http://u:c4n4ry@host:1/v1?k=c4n4ry',
  };
  for (const code of ['KEY_REFUSED', 'ACCOUNT_EMPTY', 'NOT_FOUND', 'NOT_REACHABLE', 'PRICE_UNKNOWN'] as const) {
    expect(describeFailure(code, own, 'the connection was refused')).toContain(
      'the variable OPENAI_API_KEY of the service',
    );
    expect(describeFailure(code, own, 'the connection was refused')).not.toContain('c4n4ry');
  }
});
