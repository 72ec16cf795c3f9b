import { expect, it } from 'vitest';
import { remedyOf } from '../../src/domain/library/provider-keys/check-provider-key.ts';

it('advises to check the base URL only if the key has one', () => {
  expect(remedyOf('NOT_REACHABLE', { baseUrl: null }, true)).toMatch(/internet access/);
  expect(remedyOf('NOT_REACHABLE', { baseUrl: 'http://models.example/v1' }, true)).toBe(
    'Check the base URL, and that the server is running.',
  );
  expect(remedyOf('NOT_REACHABLE', { baseUrl: 'http://models.example/v1' }, false)).toMatch(/PROVIDER_ALLOW_PRIVATE/);
});
