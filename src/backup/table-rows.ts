import type { Session } from '../store/driver.ts';

/** A table of the database, as the catalogue describes it. */
export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  /** The columns of the primary key, in its order. */
  readonly key: readonly string[];
}

/** A column and its type, without a length. */
interface Column {
  readonly name: string;
  readonly type: string;
  /** True for a text, whose order depends on the collation of the database. */
  readonly isCollated: boolean;
}

/**
 * Settings of a transaction that reads or writes values as text: in every database a value has the same text. The transaction may wait
 * for a slow disk or bucket.
 */
export const textSettings = `
  set local idle_in_transaction_session_timeout = 0;
  set local time zone 'UTC'; set local datestyle = 'ISO, YMD'; set local intervalstyle = 'postgres';
  set local bytea_output = 'hex'; set local extra_float_digits = 1`;

/** Maximum number of rows in one read. */
const rowsPerRead = 200;

// Unlogged tables are empty after a crash anyway. What an extension created belongs to it.
const tablesStatement = `
  select c.relname as name,
         (select array_agg(a.attname::text order by a.attnum) from pg_attribute a
           where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
         (select array_agg(format_type(a.atttypid, null) order by a.attnum) from pg_attribute a
           where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as types,
         (select array_agg(a.attcollation <> 0 order by a.attnum) from pg_attribute a
           where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as "isCollated",
         coalesce((select array_agg(a.attname::text order by array_position(i.indkey::int[], a.attnum::int))
           from pg_index i join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)
           where i.indrelid = c.oid and i.indisprimary), '{}') as key
    from pg_class c
   where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and c.relpersistence = 'p'
     and c.relname <> '_prisma_migrations'
     and not exists (select 1 from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
   order by c.relname collate "C"`;

/** Reads the tables of the current schema, without the record of the migrations. */
export async function readTables(session: Session): Promise<Table[]> {
  const rows = await session.query<{
    name: string;
    columns: string[];
    types: string[];
    isCollated: boolean[];
    key: string[];
  }>(tablesStatement);
  return rows.map(({ name, columns, types, isCollated, key }) => ({
    name,
    key,
    columns: columns.map((column, n) => ({
      name: column,
      type: types[n] as string,
      isCollated: isCollated[n] === true,
    })),
  }));
}

const quote = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** Returns the statement that reads the rows of a table as lines: JSON arrays of the texts of their values, ordered by their bytes. */
function selectLines({ name, columns, key }: Table): string {
  const values = columns.map((column) => `${quote(column.name)}::text`).join(', ');
  const collated = new Set(columns.filter(({ isCollated }) => isCollated).map((column) => column.name));
  const order = key.map((column) => (collated.has(column) ? `${quote(column)} collate "C"` : quote(column)));
  return `select array_to_json(array[${values}]::text[])::text as line from ${quote(name)}
    order by ${order.length > 0 ? order.join(', ') : '1'}`;
}

/** Reads the rows of a table as lines, in batches. Needs a transaction with {@link textSettings}; one read at a time. */
export async function* readRows(session: Session, table: Table): AsyncGenerator<string[]> {
  await session.script(`declare backup_rows no scroll cursor for ${selectLines(table)}`);
  try {
    for (;;) {
      const rows = await session.query<{ line: string }>(`fetch ${rowsPerRead} from backup_rows`);
      if (rows.length > 0) yield rows.map(({ line }) => line);
      if (rows.length < rowsPerRead) return;
    }
  } finally {
    // After an error the transaction has ended its cursors.
    await session.script('close backup_rows').catch(() => undefined);
  }
}

/** Writes lines of {@link readRows} as rows of a table. Needs a transaction with {@link textSettings}. */
export async function writeRows(session: Session, table: Table, lines: readonly string[]): Promise<void> {
  const { name, columns } = table;
  const values = columns.map(({ type }, n) => `(r.line ->> ${n})::${type}`).join(', ');
  await session.query(
    `insert into ${quote(name)} (${columns.map((column) => quote(column.name)).join(', ')})
     select ${values} from json_array_elements($1::json) with ordinality r(line, position) order by r.position`,
    [`[${lines.join(',')}]`],
  );
}

/** A foreign key, which is dropped while rows are written: the order of the tables is then free. */
export interface ForeignKey {
  readonly table: string;
  readonly name: string;
  readonly definition: string;
}

/** Drops the foreign keys of the current schema and stops its triggers. Returns what {@link restoreRules} needs. */
export async function suspendRules(session: Session, tables: readonly Table[]): Promise<ForeignKey[]> {
  const keys = await session.query<ForeignKey>(
    `select c.relname as table, k.conname as name, pg_get_constraintdef(k.oid) as definition
       from pg_constraint k join pg_class c on c.oid = k.conrelid
      where k.contype = 'f' and c.relnamespace = current_schema()::regnamespace order by k.oid`,
  );
  for (const { table, name } of keys)
    await session.script(`alter table ${quote(table)} drop constraint ${quote(name)}`);
  for (const { name } of tables) await session.script(`alter table ${quote(name)} disable trigger user`);
  return keys;
}

/** Creates the foreign keys again, which checks all rows, and starts the triggers. */
export async function restoreRules(
  session: Session,
  tables: readonly Table[],
  keys: readonly ForeignKey[],
): Promise<void> {
  for (const { table, name, definition } of keys)
    await session.script(`alter table ${quote(table)} add constraint ${quote(name)} ${definition}`);
  for (const { name } of tables) await session.script(`alter table ${quote(name)} enable trigger user`);
}
