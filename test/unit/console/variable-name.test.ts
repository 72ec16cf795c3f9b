import { describe, expect, it } from 'vitest';
import { environmentNameOf } from '../../../src/domain/secret-names.ts';
import { variableName } from '../../../web/src/secrets/variable-name.ts';

describe('the environment variable in the form of a secret', () => {
  it('is that of the service', () => {
    for (const key of ['my key!', 'API_TOKEN', 'api-key', '2nd', 'ключ', 'a💥b', '_x', 'a.b/c'])
      expect(variableName(key), key).toBe(environmentNameOf(key));
    expect(variableName('my key!')).toBe('my_key_');
  });
});
