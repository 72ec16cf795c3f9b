import { createTailer } from '../../realtime/tailer.ts';
import { createChangeLogSource } from '../changes/change-log-source.ts';
import type { ChangeWatches } from '../changes/watch-entities.ts';
import type { Services } from '../context.ts';
import { createLiveSessions } from '../sessions/live/live-sessions.ts';
import type { LiveWatches } from '../sessions/live/push-live.ts';
import { createSessionLogSource } from '../sessions/log-source.ts';
import { createPresence, type Presence } from '../sessions/presence/presence.ts';
import { createSessionCheck } from '../sessions/session-check.ts';
import { createSessionStateSource } from '../sessions/state-source.ts';
import { isOutage } from '../unavailable.ts';

/** Everything that subscriptions tail in this process. */
export interface Watches extends LiveWatches, ChangeWatches {
  readonly presence: Presence;
  /** Returns the number of open subscriptions. */
  active(): number;
  start(): void;
  stop(): void;
}

/** Maximum delay in ms of an item whose notification was missed. */
const checkMs = 3_000;

/** Makes the tailer of subscriptions and the sources that it reads. */
export function createWatches(
  services: Pick<Services, 'store' | 'notifier' | 'broadcaster' | 'log' | 'liveViewers' | 'metrics' | 'now'>,
): Watches {
  const { store, notifier, broadcaster, log, liveViewers } = services;
  const settled = () => liveViewers.settled();
  const tailer = createTailer({ notifier, log, isOutage, settled });
  const live = createLiveSessions(broadcaster);
  const presence = createPresence(broadcaster);
  const sessionCheck = createSessionCheck(store);
  return {
    tailer,
    sessionLogs: createSessionLogSource(services, sessionCheck),
    sessionStates: createSessionStateSource(store, sessionCheck),
    changes: createChangeLogSource(store),
    live,
    presence,
    settled,
    active: () => tailer.count() + presence.count(),
    // The sessions of a deleted organization are gone.
    start() {
      tailer.start(checkMs, ['organizations']);
      live.start();
      presence.start();
    },
    stop() {
      live.stop();
      presence.stop();
      void tailer.stop();
    },
  };
}
