import { setTimeout as delay } from 'node:timers/promises';
import type { SqlDriverAdapterFactory } from '@prisma/client/runtime/client';
import type { Driver } from './driver.ts';
import type { Adapter, Begun } from './transaction-scope.ts';
import { StoreUnavailableError, toStoreError } from './unavailable.ts';

/** A single statement that a deadlock or a serialization failure rolled back is run again. */
const rerun = { maxRuns: 3, maxDelayMs: 40 } as const;
const collisions = new Set(['40001', '40P01']);

/**
 * Wraps a driver: errors that mean an unavailable database become {@link StoreUnavailableError}, and `onFailure` receives each.
 * Everything that talks to the database goes through it, Prisma included.
 */
export function guardDriver(driver: Driver, onFailure: (error: StoreUnavailableError) => void): Driver {
  const fail = (error: unknown): never => {
    const converted = toStoreError('database', error);
    if (converted instanceof StoreUnavailableError && converted !== error) onFailure(converted);
    throw converted;
  };
  const guard = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      return fail(error);
    }
  };
  // The hot path: a statement that succeeds costs only one more promise, whatever the handling of failures.
  const guardStatement = <T>(run: () => Promise<T>): Promise<T> =>
    run().catch((error: unknown) => againAfterCollision(run, error).catch(fail));
  const guardBegun = (begun: Begun): Begun => ({
    query: (sql, values) => guard(() => begun.query(sql, values)),
    async prismaSide() {
      const side = await guard(() => begun.prismaSide());
      return {
        queryRaw: (query) => guard(() => side.queryRaw(query)),
        executeRaw: (query) => guard(() => side.executeRaw(query)),
      };
    },
    commit: () => guard(() => begun.commit()),
    rollback: () => guard(() => begun.rollback()),
  });
  return {
    dialect: driver.dialect,
    scopes: driver.scopes,
    adapter: guardAdapter(driver.adapter, guard),
    query: (sql, values) => guardStatement(() => driver.query(sql, values)),
    urgentQuery: (sql, values) => guardStatement(() => driver.urgentQuery(sql, values)),
    connections: () => driver.connections(),
    ping: () => guard(() => driver.ping()),
    readIdentity: () => guard(() => driver.readIdentity()),
    begin: async () => guardBegun(await guard(() => driver.begin())),
    session: (work) => guard(() => driver.session(work)),
    close: () => driver.close(),
  };
}

type Guard = <T>(work: () => Promise<T>) => Promise<T>;

function guardAdapter(factory: SqlDriverAdapterFactory, guard: Guard): SqlDriverAdapterFactory {
  const { provider, adapterName } = factory;
  const connect = async (): Promise<Adapter> => {
    const adapter = await guard(() => factory.connect());
    return {
      provider,
      adapterName,
      queryRaw: (query) => guard(() => adapter.queryRaw(query)),
      executeRaw: (query) => guard(() => adapter.executeRaw(query)),
      executeScript: (script) => guard(() => adapter.executeScript(script)),
      startTransaction: (level) => guard(() => adapter.startTransaction(level)),
      getConnectionInfo: () => adapter.getConnectionInfo?.() ?? { supportsRelationJoins: true },
      dispose: () => adapter.dispose(),
    };
  };
  return { provider, adapterName, connect };
}

/**
 * Runs a statement again, whose first run failed with `error`, if that was a collision. Safe for any statement: the one that
 * failed was rolled back as a whole.
 */
async function againAfterCollision<T>(run: () => Promise<T>, error: unknown): Promise<T> {
  for (let runs = 1, last = error; ; runs++) {
    if (runs === rerun.maxRuns || !collisions.has((last as { code?: string }).code ?? '')) throw last;
    await delay(Math.random() * rerun.maxDelayMs);
    try {
      return await run();
    } catch (next) {
      last = next;
    }
  }
}
