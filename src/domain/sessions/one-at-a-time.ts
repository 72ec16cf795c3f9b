import type { Store } from '../../store/store.ts';

const lastByStore = new WeakMap<Store, Map<string, Promise<unknown>>>();

/**
 * Runs `work` after all earlier work for the same session in this process. Work that waits for a session's row locks
 * holds a connection meanwhile, and a process has few: so only one does per session, and a locked session does not
 * delay the others.
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
