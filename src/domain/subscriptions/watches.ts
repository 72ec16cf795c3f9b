import { createTailer } from '../../realtime/tailer.ts';
import { createChangeLogSource } from '../changes/change-log-source.ts';
import type { ChangeWatches } from '../changes/watch-entities.ts';
import type { Services } from '../context.ts';
import { createSessionLogSource } from '../sessions/log-source.ts';
import { createSessionCheck } from '../sessions/session-check.ts';
import { createSessionStateSource } from '../sessions/state-source.ts';
import type { SessionWatches } from '../sessions/watch.ts';
import { isOutage } from '../unavailable.ts';

/** Everything that subscriptions tail in this process. */
export interface Watches extends SessionWatches, ChangeWatches {
  /** Returns the number of open subscriptions. */
  active(): number;
  start(): void;
  stop(): void;
}

/** Maximum delay in ms of an item whose notification was missed. */
const checkMs = 3_000;

/** Makes the tailer of subscriptions and the sources that it reads. */
export function createWatches(services: Pick<Services, 'store' | 'notifier' | 'log' | 'liveViewers'>): Watches {
  const { store, notifier, log, liveViewers } = services;
  const tailer = createTailer({ notifier, log, isOutage, settled: () => liveViewers.settled() });
  const sessionCheck = createSessionCheck(store);
  return {
    tailer,
    sessionLogs: createSessionLogSource(store, sessionCheck),
    sessionStates: createSessionStateSource(store, sessionCheck),
    changes: createChangeLogSource(store),
    active: tailer.count,
    // The sessions of a deleted organization are gone.
    start: () => tailer.start(checkMs, ['organizations']),
    stop: () => void tailer.stop(),
  };
}
