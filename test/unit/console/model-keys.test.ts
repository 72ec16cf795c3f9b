import { expect, it } from 'vitest';
import { failedKeyOf } from '../../../web/src/getting-started/setup-state.ts';
import { baseUrlProblem, hostOf } from '../../../web/src/manage/model-keys/base-url.ts';
import { failureText } from '../../../web/src/manage/model-keys/failure-text.ts';
import { writeUsd } from '../../../web/src/ui/money.ts';

it('says what a base URL must be, with the address that was probably meant', () => {
  for (const good of [null, 'http://localhost:11434/v1', 'https://example.com/v1', 'HTTPS://EXAMPLE.COM']) {
    expect(baseUrlProblem(good), String(good)).toBeNull();
  }
  const expected = (address: string) => `Enter an address that starts with https:// or http://, such as ${address}.`;
  expect(baseUrlProblem('http//localhost:11434/v1')).toBe(expected('http://localhost:11434/v1'));
  expect(baseUrlProblem('https:/example.com/v1')).toBe(expected('https://example.com/v1'));
  expect(baseUrlProblem('example.com/v1')).toBe(expected('https://example.com/v1'));
  expect(baseUrlProblem('localhost:11434/v1')).toBe(expected('http://localhost:11434/v1'));
  expect(baseUrlProblem('httpd.example.com')).toBe(expected('https://httpd.example.com'));
  expect(baseUrlProblem('not an address')).toBe(expected('http://localhost:11434/v1'));
  expect(hostOf('http://localhost:11434/v1')).toBe('localhost:11434');
  expect(hostOf('ftp://example.com')).toBeNull();
});

it('shows small sums with enough digits', () => {
  expect([0, 0.000_000_1, 0.0042, 0.005, 0.0999, 1, 12.5, 1_234.5].map(writeUsd)).toEqual([
    ...['$0.00', '<$0.000001', '$0.0042', '$0.005', '$0.10', '$1', '$12.50', '$1,235'],
  ]);
});

it('finds the failed key of an agent, unless another of its keys works', () => {
  const agent = { keySource: 'ENTERPRISE', providers: ['OPENAI', 'COMPATIBLE'] };
  const good = { scope: 'ENTERPRISE', provider: 'OPENAI', isEnabled: true, lastFailure: null };
  const bad = { ...good, lastFailure: {} };
  expect(failedKeyOf(agent, [bad])).toBe(bad);
  for (const keys of [[], [bad, good], [{ ...bad, isEnabled: false }], [{ ...bad, scope: 'USER' }]]) {
    expect(failedKeyOf(agent, keys)).toBeNull();
  }
  expect(failedKeyOf(agent, [{ ...bad, provider: 'GOOGLE' }])).toBeNull();
  expect(failedKeyOf({ ...agent, keySource: 'ENVIRONMENT' }, [bad])).toBeNull();
});

it('says what to check if the service has no way to the provider, and otherwise what the service says', () => {
  const noAddress = 'The server cannot be reached: the host has no address that the service is allowed to connect to.';
  expect(failureText(noAddress, { provider: 'OPENAI' })).toBe(
    'Couldn’t reach OpenAI. Check the server’s internet access or proxy.',
  );
  expect(failureText(noAddress, { provider: 'COMPATIBLE', baseUrl: 'https://10.0.0.1/v1' })).toBe(noAddress);
  expect(failureText('The provider refuses the key.', { provider: 'OPENAI' })).toBe('The provider refuses the key.');
});
