import type { Store } from '../../src/store/store.ts';

/** What the values of all secrets in tests contain, so that they are found wherever they should not be. */
export const secretCanary = 'c4n4ry';

// A whole token, of any kind: the part that is shown and stored is much shorter. In the middle of a word it is none: what is
// sealed is base64url, and long enough that chance writes a prefix. Then the values of secrets.
const forbidden = `(?:^|[^A-Za-z0-9_-])(apk_user_|apk_|cog_)[A-Za-z0-9]{32}|${secretCanary}`;

/** Rejects when a row of any table, as text, holds a token or the value of a secret. */
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
