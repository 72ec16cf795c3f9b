import type { Driver } from '../../src/store/driver.ts';
import type { Adapter, Begun } from '../../src/store/transaction-scope.ts';

/** A statement before it is sent, and its source: the Prisma client, or our own SQL. */
export interface SentStatement {
  readonly by: 'prisma' | 'sql';
  readonly sql: string;
  readonly values: readonly unknown[];
  readonly isInTransaction: boolean;
}

/** Called with each statement before it is sent. */
export type StatementListener = (statement: SentStatement) => void;

/** Wraps a driver to report each statement, except those of migrations and of `urgentQuery` (heartbeats). */
export function observeDriver(driver: Driver, listener: StatementListener): Driver {
  const { adapter } = driver;
  const observeSql = <T extends Pick<Driver, 'query'>>(target: T, isInTransaction: boolean): T['query'] => {
    return (sql, values) => {
      listener({ by: 'sql', sql, values, isInTransaction });
      return target.query(sql, values);
    };
  };
  const observePrisma = (side: Pick<Adapter, 'queryRaw' | 'executeRaw'>, isInTransaction: boolean) => {
    const report = ({ sql, args }: Parameters<Adapter['queryRaw']>[0]) =>
      listener({ by: 'prisma', sql, values: args, isInTransaction });
    return {
      queryRaw(query: Parameters<Adapter['queryRaw']>[0]) {
        report(query);
        return side.queryRaw(query);
      },
      executeRaw(query: Parameters<Adapter['executeRaw']>[0]) {
        report(query);
        return side.executeRaw(query);
      },
    };
  };
  const observeBegun = (begun: Begun): Begun => ({
    query: observeSql(begun, true),
    prismaSide: async () => observePrisma(await begun.prismaSide(), true),
    commit: () => begun.commit(),
    rollback: () => begun.rollback(),
  });
  return {
    ...driver,
    adapter: {
      provider: adapter.provider,
      adapterName: adapter.adapterName,
      async connect() {
        const connected = await adapter.connect();
        return Object.assign(Object.create(connected) as Adapter, observePrisma(connected, false));
      },
    },
    query: observeSql(driver, false),
    begin: async () => observeBegun(await driver.begin()),
  };
}
