import type { Store } from '../../store/store.ts';

const lasts = new WeakMap<Store, Map<string, Promise<unknown>>>();

/**
 * Does `work` when all that was given before for the same session is done, in this process. What waits for a session's rows
 * holds a connection meanwhile, of which a process has few: so only one does, and a session that something else holds
 * holds up no other.
 */
export async function oneAtATime<T>(store: Store, sessionId: string, work: () => Promise<T>): Promise<T> {
  const last = lasts.get(store) ?? new Map<string, Promise<unknown>>();
  lasts.set(store, last);
  const before = last.get(sessionId);
  const doing = before ? before.then(work) : work();
  const done = doing.catch(() => undefined);
  last.set(sessionId, done);
  try {
    return await doing;
  } finally {
    if (last.get(sessionId) === done) last.delete(sessionId);
  }
}
