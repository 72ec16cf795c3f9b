import { expect, it } from 'vitest';
import { authenticate, type CachedKey } from '../../src/auth/authenticate.ts';
import { createKeyCache } from '../../src/auth/key-cache.ts';
import { createKeyUses } from '../../src/domain/identity/keys/key-usage.ts';
import { prepareInstallation } from '../../src/domain/installation/bootstrap.ts';
import { createKeyring } from '../../src/store/cipher.ts';
import { openTestStore } from '../support/test-store.ts';

const oldKey = 'the first secret key of these tests';
const newKey = 'the second secret key of these tests';
const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

it('moves the used keys to a new SECRET_KEY, so that the old one can be dropped', async () => {
  const { store, close } = await openTestStore();
  const as = (secretKey: string, previousSecretKey: string | null) => {
    const base = { store, log: quiet, now: () => new Date(), keyring: createKeyring({ secretKey, previousSecretKey }) };
    return { ...base, keyUsage: createKeyUses(base), keyCache: createKeyCache<CachedKey>(store) };
  };
  const start = (services: ReturnType<typeof as>, bootstrapToken: string | null) =>
    prepareInstallation(services, { bootstrapToken, isKeyGenerated: false, isShared: false });
  const bootstrapToken = `cog_${'x'.repeat(40)}`;
  const before = as(oldKey, null);
  const { firstStart } = await start(before, bootstrapToken);
  const v1Key = firstStart?.v1Key ?? '';

  const rotating = as(newKey, oldKey);
  await start(rotating, bootstrapToken);
  for (const token of [bootstrapToken, v1Key]) {
    const [first, again] = [await authenticate(rotating, token, null), await authenticate(rotating, token, null)];
    expect(again.apiKeyId).toBe(first.apiKeyId);
  }
  await rotating.keyUsage.flush();

  const after = as(newKey, null);
  await start(after, null);
  for (const token of [bootstrapToken, v1Key]) {
    expect((await authenticate(after, token, null)).apiKeyId).not.toBeNull();
    await expect(authenticate(before, token, null)).rejects.toThrow('Missing or invalid');
  }
  const [count] = await store.query<{ n: number }>('select count(*)::int as n from api_key', []);
  expect(count?.n).toBe(2);
  await close();
});
