import type { Store } from '../../src/store/store.ts';

/** A text that the values of all test secrets contain, so that leaks can be found. */
export const secretCanary = 'c4n4ry';

// A complete token of any kind: the prefix that is displayed and stored is much shorter. Not inside a word: encrypted values
// are long base64url texts, which may contain a prefix by chance. Also the values of secrets.
const forbidden = `(?:^|[^A-Za-z0-9_-])(apk_user_|apk_|cog_)[A-Za-z0-9]{32}|${secretCanary}`;

/** Rejects if the text of any table row contains a token or the value of a secret. */
export async function requireNoSecrets(store: Store): Promise<void> {
  const tables = await store.query<{ name: string }>(
    `select quote_ident(table_name) as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`,
  );
  const selects = tables.map(
    ({ name }) =>
      `(select '${name}' as name, substring(t::text from $1) as found from ${name} t where t::text ~ $1 limit 3)`,
  );
  const found = await store.query<{ name: string; found: string }>(selects.join(' union all '), [forbidden]);
  if (found.length > 0) throw new Error(`The database holds what it must not: ${JSON.stringify(found)}`);
}
