/** Mutual exclusion by names, in this process. */
export interface Locks {
  /** Runs work alone among all work with this name, in the order of the calls. */
  run<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/** Creates locks, all of them free. */
export function createLocks(): Locks {
  const ends = new Map<string, Promise<unknown>>();
  return {
    async run(name, work) {
      const before = ends.get(name) ?? Promise.resolve();
      const own = before.then(work);
      const end = own.catch(() => undefined);
      ends.set(name, end);
      try {
        return await own;
      } finally {
        if (ends.get(name) === end) ends.delete(name);
      }
    },
  };
}
