import type { Session } from './driver.ts';
import type { Migration } from './migrations.ts';
import { readUnusedSince } from './older-versions.ts';

/** Work of a migration on a table that existed before it. */
export interface TableEffect {
  readonly table: string;
  /** `index`: an index is built while writes wait. `rows`: rows are written, and may stay locked. `columns`: the definition changes, at once. */
  readonly kind: 'index' | 'rows' | 'columns';
  /** The number of rows, as the database estimates it. */
  readonly rows: number;
}

/** Effects of a migration that was not applied yet. */
export interface MigrationEffects {
  readonly name: string;
  readonly tables: readonly TableEffect[];
  /** The migration since which nothing uses what this one removes; null: it removes nothing. */
  readonly unusedSince: string | null;
}

const forms: readonly { readonly kind: TableEffect['kind']; readonly form: RegExp }[] = [
  {
    kind: 'index',
    form: /\bcreate\s+(?:unique\s+)?index\s+(?:if\s+not\s+exists\s+)?\S+\s+on\s+(?:only\s+)?"?(\w+)"?/gi,
  },
  { kind: 'rows', form: /\bupdate\s+(?:only\s+)?"?(\w+)"?\s+(?:as\s+)?(?:\w+\s+)?set\b/gi },
  { kind: 'rows', form: /\b(?:insert\s+into|delete\s+from)\s+(?:only\s+)?"?(\w+)"?/gi },
  { kind: 'columns', form: /\balter\s+table\s+(?:if\s+exists\s+)?(?:only\s+)?"?(\w+)"?/gi },
];

/** Reads the effects of migrations from their statements. Effects on tables that they create are left out. */
export async function readEffects(
  session: Session,
  migrations: readonly Pick<Migration, 'name' | 'sql'>[],
): Promise<MigrationEffects[]> {
  const estimates = await readEstimates(session);
  return migrations.map(({ name, sql }) => ({
    name,
    tables: findTables(sql).flatMap(({ table, kind }) => {
      const rows = estimates.get(table);
      return rows === undefined ? [] : [{ table, kind, rows }];
    }),
    unusedSince: readUnusedSince(sql),
  }));
}

function findTables(sql: string): Pick<TableEffect, 'table' | 'kind'>[] {
  // The bodies of functions run later, and comments and texts never.
  const code = sql
    .replace(/--.*$/gm, '')
    .replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''")
    .replace(/'(?:[^']|'')*'/g, "''");
  const found = forms.flatMap(({ kind, form }) =>
    [...code.matchAll(form)].map(([, table = '']) => ({ table: table.toLowerCase(), kind })),
  );
  return [...new Map(found.map((each) => [`${each.kind} ${each.table}`, each])).values()];
}

async function readEstimates(session: Session): Promise<Map<string, number>> {
  const rows = await session.query<{ name: string; rows: number }>(
    `select relname as name, greatest(reltuples, 0)::float8 as rows from pg_class
      where relkind = 'r' and relnamespace = current_schema()::regnamespace`,
  );
  return new Map(rows.map(({ name, rows: count }) => [name, count]));
}
