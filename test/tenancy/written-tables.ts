import type { TestApp } from '../support/app.ts';

/** Knows which tables were written: much cheaper than reading them. */
export interface WrittenTables {
  /** Returns the tables with a committed write since the last call, in no order. */
  take(): Promise<string[]>;
}

const setUp = [
  'create schema written_tables',
  'create unlogged table written_tables.write (name text not null)',
  `create function written_tables.note() returns trigger language plpgsql as
     $$ begin insert into written_tables.write values (tg_table_name); return null; end $$`,
];

/** Begins to follow tables, by a trigger on each. A write with `session_replication_role = replica` is not noted. */
export async function followTables({ app }: Pick<TestApp, 'app'>, tables: readonly string[]): Promise<WrittenTables> {
  const { store } = app.services;
  const triggers = tables.map(
    (name) =>
      `create trigger note_write after insert or update or delete on "${name}" for each statement execute function written_tables.note()`,
  );
  await store.transact(async (tx) => {
    for (const statement of [...setUp, ...triggers]) await tx.query(statement);
  });
  return {
    async take() {
      const names = await store.execute<{ name: string }>('delete from written_tables.write returning name', []);
      return [...new Set(names.map(({ name }) => name))];
    },
  };
}
