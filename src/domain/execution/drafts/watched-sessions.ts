import type { Broadcaster } from '../../../realtime/broadcaster.ts';
import { readWatchMessage, renewMs, watchMs } from '../../sessions/live/watch-message.ts';

/** Where a session is watched. `local`: only in this process. */
export type Watched = 'nowhere' | 'local' | 'anywhere';

/** The sessions that are watched live, as a worker knows them from the messages of all processes. */
export interface WatchedSessions {
  /** Returns where a session is watched. */
  whereWatched(sessionId: string): Watched;
  /**
   * Calls the listener when a session begins or ceases to be watched, and when a process needs all open drafts (`isNew`). Returns
   * the function that stops it.
   */
  follow(sessionId: string, listener: (isNew: boolean) => void): () => void;
  start(): void;
  stop(): void;
}

/** A watched session: when each process that watches it expires, by the monotonic clock. */
type Watchers = Map<string, number>;

/** Creates {@link WatchedSessions}. */
export function createWatchedSessions(
  broadcaster: Broadcaster,
  now: () => number = () => performance.now(),
): WatchedSessions {
  const sessions = new Map<string, Watchers>();
  const listeners = new Map<string, Set<(isNew: boolean) => void>>();
  let stops: (() => void)[] = [];
  let timer: NodeJS.Timeout | null = null;

  const call = (sessionId: string, isNew: boolean) => {
    for (const listener of [...(listeners.get(sessionId) ?? [])]) listener(isNew);
  };
  const remove = (sessionId: string, watchers: Watchers, processId: string) => {
    if (!watchers.delete(processId) || watchers.size > 0) return;
    sessions.delete(sessionId);
    call(sessionId, false);
  };
  const take = (act: string, payload: string) => {
    const message = readWatchMessage(payload);
    if (message === null) return;
    for (const sessionId of message.sessionIds) {
      const watchers: Watchers = sessions.get(sessionId) ?? new Map();
      if (act === 'unwatch') {
        remove(sessionId, watchers, message.processId);
      } else if (act === 'watch' || act === 'again') {
        const isNew = act === 'again' || !watchers.has(message.processId);
        sessions.set(sessionId, watchers.set(message.processId, now() + watchMs));
        if (isNew) call(sessionId, true);
      }
    }
  };
  const removeExpired = () => {
    for (const [sessionId, watchers] of sessions) {
      for (const [processId, expiresAt] of watchers) if (expiresAt <= now()) remove(sessionId, watchers, processId);
    }
  };

  return {
    whereWatched(sessionId) {
      const watchers = sessions.get(sessionId);
      if (watchers === undefined) return 'nowhere';
      return watchers.size === 1 && watchers.has(broadcaster.processId) ? 'local' : 'anywhere';
    },
    follow(sessionId, listener) {
      const set = listeners.get(sessionId) ?? new Set();
      listeners.set(sessionId, set.add(listener));
      return () => {
        set.delete(listener);
        if (set.size === 0 && listeners.get(sessionId) === set) listeners.delete(sessionId);
      };
    },
    start() {
      const ask = () => broadcaster.publish('watch', 'who', broadcaster.processId);
      stops = [broadcaster.subscribeAll('watch', (payload, act) => take(act, payload)), broadcaster.onGap(ask)];
      timer = setInterval(removeExpired, renewMs).unref();
      ask();
    },
    stop() {
      if (timer) clearInterval(timer);
      for (const stop of stops) stop();
      sessions.clear();
    },
  };
}
