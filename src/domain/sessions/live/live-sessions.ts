import type { Broadcaster } from '../../../realtime/broadcaster.ts';
import { LiveSession, type LiveSubscriber } from './live-session.ts';
import { renewMs, type WatchAct, writeWatchMessages } from './watch-message.ts';

/** The sessions that this process watches live, and their drafts. */
export interface LiveSessions {
  /** Watches a session until {@link LiveSessions.leave}. */
  join(sessionId: string, subscriber: LiveSubscriber): LiveSession;
  leave(sessionId: string, subscriber: LiveSubscriber): void;
  /** Number of watched sessions. */
  count(): number;
  start(): void;
  /** Tells the workers that this process watches nothing more. */
  stop(): void;
}

interface Watched {
  readonly session: LiveSession;
  readonly stop: () => void;
}

/** Creates {@link LiveSessions}. */
export function createLiveSessions(
  broadcaster: Broadcaster,
  now: () => number = () => performance.now(),
): LiveSessions {
  const watched = new Map<string, Watched>();
  let stops: (() => void)[] = [];
  let timer: NodeJS.Timeout | null = null;

  const announce = (act: WatchAct, sessionIds: readonly string[]) => {
    const { processId } = broadcaster;
    for (const payload of writeWatchMessages({ processId, sessionIds })) broadcaster.publish('watch', act, payload);
  };
  const renew = () => {
    for (const { session } of watched.values()) session.sweep();
    announce('watch', [...watched.keys()]);
  };

  return {
    join(sessionId, subscriber) {
      let found = watched.get(sessionId);
      if (found === undefined) {
        const session = new LiveSession(() => announce('again', [sessionId]), now);
        found = { session, stop: broadcaster.subscribe('draft', sessionId, (payload) => session.take(payload)) };
        watched.set(sessionId, found);
        found.session.subscribers.add(subscriber);
        announce('watch', [sessionId]);
      }
      found.session.subscribers.add(subscriber);
      return found.session;
    },
    leave(sessionId, subscriber) {
      const found = watched.get(sessionId);
      if (found === undefined || !found.session.subscribers.delete(subscriber)) return;
      if (found.session.subscribers.size > 0) return;
      found.stop();
      watched.delete(sessionId);
      announce('unwatch', [sessionId]);
    },
    count: () => watched.size,
    start() {
      stops = [
        broadcaster.subscribe('watch', 'who', () => announce('watch', [...watched.keys()])),
        // Messages may have been lost: every worker sends all open drafts.
        broadcaster.onGap(() => announce('again', [...watched.keys()])),
      ];
      timer = setInterval(renew, renewMs).unref();
    },
    stop() {
      if (timer) clearInterval(timer);
      for (const stop of stops) stop();
      announce('unwatch', [...watched.keys()]);
      for (const { stop } of watched.values()) stop();
      watched.clear();
    },
  };
}
