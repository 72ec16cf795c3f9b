import type { Store, Transaction } from '../store/store.ts';

/** Carries a transaction's result out of the rollback. */
class Undone {
  readonly result: unknown;

  constructor(result: unknown) {
    this.result = result;
  }
}

/**
 * Creates a store whose transactions return their result but are rolled back, without their after-commit actions. For a
 * dry run of an act that writes by {@link Store.transact} alone.
 */
export function undoing(store: Store): Store {
  return {
    ...store,
    async transact<T>(fn: (tx: Transaction) => Promise<T>): Promise<T> {
      try {
        return await store.transact(async (tx) => {
          throw new Undone(await fn(tx));
        });
      } catch (error) {
        if (error instanceof Undone) return error.result as T;
        throw error;
      }
    },
  };
}
