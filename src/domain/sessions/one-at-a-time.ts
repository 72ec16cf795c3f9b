import type { Store } from '../../store/store.ts';

const lastByStore = new WeakMap<Store, Map<string, Promise<unknown>>>();

/**
 * Does `work` when all that was given before for the same session is done, in this process. What waits for a session's rows
 * holds a connection meanwhile, of which a process has few: so only one does, and a session that something else holds
 * holds up no other.
 */
export async function oneAtATime<T>(store: Store, sessionId: string, work: () => Promise<T>): Promise<T> {
  const last = lastByStore.get(store) ?? new Map<string, Promise<unknown>>();
  lastByStore.set(store, last);
  const before = last.get(sessionId);
  const operation = before ? before.then(work) : work();
  const done = operation.catch(() => undefined);
  last.set(sessionId, done);
  try {
    return await operation;
  } finally {
    if (last.get(sessionId) === done) last.delete(sessionId);
  }
}
