/** The first migration since which the versions before one can work on its database: see CONTRIBUTING.md#how-to-add-a-migration. */
export const firstWithOlderVersions = '20261129165500_transaction_numbers';

const unusedSince = /^-- unused since: (\d{14}_[a-z0-9_]+)/m;
const record = /^usable since: (\S+)$/;

/**
 * Returns the name in the comment `-- unused since: NAME` of a migration that removes something: the migration since which nothing
 * uses that. Null: the migration removes nothing.
 */
export function readUnusedSince(sql: string): string | null {
  return unusedSince.exec(sql)?.[1] ?? null;
}

/** Returns what the record of an applied migration says to older versions, which do not have its file. */
export function describeUsability({ sql }: { readonly sql: string }): string {
  return `usable since: ${readUnusedSince(sql) ?? firstWithOlderVersions}`;
}

/**
 * Tells if a version with these migrations can use a database after a migration that it does not know. `logs` is the record of that
 * migration, see {@link describeUsability}.
 */
export function isUsableAfter(logs: string | null, known: { has(name: string): boolean }): boolean {
  const [, since] = record.exec(logs ?? '') ?? [];
  return since !== undefined && known.has(since);
}
