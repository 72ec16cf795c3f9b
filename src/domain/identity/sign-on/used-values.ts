import type { Context } from '../../context.ts';

/** Marks a value as used until a time after which it is refused anyway. Returns false if it was used before. */
export async function useOnce(
  { store, keyring }: Pick<Context, 'store' | 'keyring'>,
  value: string,
  expiresAt: Date,
): Promise<boolean> {
  // During a rotation of SECRET_KEY, processes may have either pepper: a value counts as used under both.
  const hashes = keyring.tokenHashes(value);
  const inserted = await store.execute(
    `insert into used_sign_on_value (hash, expires_at) select hash, $2::timestamptz from unnest($1::text[]) hash
     on conflict do nothing returning hash`,
    [hashes, expiresAt],
  );
  return inserted.length === hashes.length;
}

/** Deletes the values that are refused by their age. */
export async function forgetUsedValues({ store, now }: Pick<Context, 'store' | 'now'>): Promise<void> {
  await store.execute('delete from used_sign_on_value where expires_at <= $1', [now()]);
}
