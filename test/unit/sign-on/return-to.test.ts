import { expect, it } from 'vitest';
import { safeReturnTo } from '../../../src/domain/identity/sign-on/transactions.ts';

const base = 'https://console.example.com';

it.each([
  'https://evil.example/',
  '//evil.example',
  '/\\evil.example',
  '/a/..//evil.example',
  '/./\\evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  'javascript:alert(1)',
  'sessions',
  '/sign-in/confirm',
  `/${'a'.repeat(1_000)}`,
  { toString: () => '/sessions' },
  undefined,
])('leads to the first page instead of %j', (value) => {
  expect(safeReturnTo(value, base)).toBe('/');
});

it.each(['/', '/sessions', '/sessions/devin-1?tab=changes#line-3', '/usage/'])('leads back to %s', (value) => {
  expect(safeReturnTo(value, base)).toBe(value);
});
