import type { Store, Transaction } from '../store/store.ts';

/** Carries what a transaction gave out of it, while it is rolled back. */
class Undone {
  readonly result: unknown;

  constructor(result: unknown) {
    this.result = result;
  }
}

/**
 * A store whose transactions give what they give and are rolled back all the same: what follows a commit does not follow. For
 * a dry run of an act that writes by {@link Store.transact} alone.
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
