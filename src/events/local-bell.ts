import type { Bell } from './bell.ts';
import type { Topic } from './topics.ts';

/** A bell within this process; one that reaches further rings it for what comes from elsewhere. */
export interface LocalBell extends Bell {
  /** Rings for every topic that somebody listens to. */
  ringAll(): void;
}

/** `onError`: a listener threw; the others are called all the same. */
export function createLocalBell(onError: (error: unknown) => void): LocalBell {
  const listeners = new Map<Topic, Set<() => void>>();
  const ring = (topic: Topic) => {
    const [name, id] = topic.split(':');
    if ((name === 'organization' || name === 'resources') && id !== '*') ring(`${name}:*`);
    for (const listener of [...(listeners.get(topic) ?? [])]) {
      try {
        listener();
      } catch (error) {
        onError(error);
      }
    }
  };
  return {
    ring,
    ringAll() {
      for (const topic of [...listeners.keys()]) ring(topic);
    },
    on(topic, listener) {
      // A wrapper of its own, so that one function can be registered twice.
      const own = () => listener();
      const set = listeners.get(topic) ?? new Set();
      listeners.set(topic, set.add(own));
      return () => {
        set.delete(own);
        if (set.size === 0 && listeners.get(topic) === set) listeners.delete(topic);
      };
    },
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    listenerCount: () => [...listeners.values()].reduce((sum, set) => sum + set.size, 0),
  };
}
