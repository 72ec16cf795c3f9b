import { inSpan, type TraceSpan } from '../common/trace-span.ts';
import type { Store, Transaction } from '../store/store.ts';

/** The longest statement in a span, in characters. */
const maxText = 2_000;

/** The span under which statements are recorded now. */
export interface CurrentSpan {
  span: TraceSpan;
}

/** Returns a store that records each statement as a span below the current one. The texts of statements contain no values. */
export function tracedStore(store: Store, current: CurrentSpan): Store {
  const statement = <Row>(
    parent: TraceSpan,
    sql: string,
    run: () => Promise<Row[]>,
    more: Record<string, string> = {},
  ): Promise<Row[]> => {
    const operation = operationOf(sql);
    const attributes = {
      'db.system.name': 'postgresql',
      'db.operation.name': operation,
      'db.query.text': textOf(sql),
      ...more,
    };
    const span = parent.start(operation, { kind: 'client', attributes });
    return inSpan(span, async () => {
      const rows = await run();
      span.set({ 'db.response.returned_rows': rows.length });
      return rows;
    });
  };
  const below = (parent: TraceSpan, tx: Transaction): Transaction => ({
    prisma: tx.prisma,
    query: (sql, values) => statement(parent, sql, () => tx.query(sql, values)),
    afterCommit: (hook) => tx.afterCommit(hook),
  });
  let extended: Store['prisma'] | null = null;
  const traced: Partial<Store> = {
    query: (sql, values) => statement(current.span, sql, () => store.query(sql, values)),
    readList: (read) =>
      store.readList((reader) => {
        const { target } = reader;
        const query: typeof reader.query = (sql, values) =>
          statement(current.span, sql, () => reader.query(sql, values), { 'switchyard.database': target });
        return read({ target, query });
      }),
    execute: (sql, values) => statement(current.span, sql, () => store.execute(sql, values)),
    transact: (act) => {
      const attributes = { 'db.system.name': 'postgresql' };
      const span = current.span.start('transaction', { kind: 'client', attributes });
      return inSpan(span, () => store.transact((tx) => act(below(span, tx))));
    },
    get prisma() {
      const { prisma } = store;
      extended ??= tracedPrisma(prisma, current);
      return extended;
    },
  };
  return new Proxy(store, {
    get: (target, name) => (name in traced ? traced[name as keyof Store] : target[name as keyof Store]),
  });
}

function tracedPrisma(prisma: Store['prisma'], current: CurrentSpan): Store['prisma'] {
  const extended = prisma.$extends({
    query: {
      $allOperations({ model, operation, args, query }) {
        const attributes = {
          'db.system.name': 'postgresql',
          'db.operation.name': operation,
          'db.collection.name': model,
        };
        const name = model === undefined ? operation : `${operation} ${model}`;
        return inSpan(current.span.start(name, { kind: 'client', attributes }), () => query(args));
      },
    },
  });
  // The extension adds nothing to the client's type.
  return extended as unknown as Store['prisma'];
}

const textOf = (sql: string): string => sql.replaceAll(/\s+/g, ' ').trim().slice(0, maxText);

const operationOf = (sql: string): string => (/^\s*([a-z]+)/i.exec(sql)?.[1] ?? 'statement').toUpperCase();
