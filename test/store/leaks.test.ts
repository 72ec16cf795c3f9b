import { afterAll, beforeAll, expect, it } from 'vitest';
import { newToken } from '../../src/auth/tokens.ts';
import { requireNoSecrets } from '../support/leaks.ts';
import { openTestStore, type TestStore } from '../support/test-store.ts';

let test: TestStore;
beforeAll(async () => {
  test = await openTestStore();
});
afterAll(() => test.close());

const writeDown = (text: string) =>
  test.store.execute(
    `insert into audit_entry (id, enterprise_id, action, data, created_at)
     values ('leak', 'e', 'create_org', jsonb_build_object('name', $1::text), now())
     on conflict (id) do update set data = excluded.data`,
    [text],
  );

it('finds every kind of token and the values of secrets wherever they are stored', async () => {
  for (const kind of ['PERSONAL', 'SERVICE', 'PERSONAL_ACCESS_TOKEN', 'SERVICE_USER'] as const) {
    await writeDown(`made ${newToken(kind)} for you`);
    await expect(requireNoSecrets(test.store)).rejects.toThrow('audit_entry');
  }
  await writeDown('the value is c4n4ry-1');
  await expect(requireNoSecrets(test.store)).rejects.toThrow('audit_entry');
  await writeDown('cog_ab…, apk_user_cdef…');
  await requireNoSecrets(test.store);
});
