import { wildcardOf } from './channels.ts';
import type { Notifier } from './notifier.ts';
import type { Topic } from './topics.ts';

/** A notifier within this process. A notifier over processes uses it for the notifications that arrive. */
export interface LocalNotifier extends Notifier {
  /** Calls the listeners of a topic, but not those of its wildcard. */
  deliver(topic: Topic): void;
  /** Notifies every topic that has a listener, or those for which a condition holds. */
  notifyAll(condition?: (topic: Topic) => boolean): void;
}

/** `onError`: a listener threw; the others are called all the same. */
export function createLocalNotifier(onError: (error: unknown) => void): LocalNotifier {
  const listeners = new Map<Topic, Set<() => void>>();
  const deliver = (topic: Topic) => {
    for (const listener of [...(listeners.get(topic) ?? [])]) {
      try {
        listener();
      } catch (error) {
        onError(error);
      }
    }
  };
  return {
    notify(topic) {
      const wildcard = wildcardOf(topic);
      if (wildcard !== null && wildcard !== topic) deliver(wildcard);
      deliver(topic);
    },
    deliver,
    notifyAll(condition = () => true) {
      for (const topic of [...listeners.keys()]) if (condition(topic)) deliver(topic);
    },
    subscribe(topic, listener) {
      // A wrapper of its own, so that one function can be registered twice.
      const subscription = () => listener();
      const set = listeners.get(topic) ?? new Set();
      listeners.set(topic, set.add(subscription));
      return () => {
        set.delete(subscription);
        if (set.size === 0 && listeners.get(topic) === set) listeners.delete(topic);
      };
    },
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    receivedCount: () => 0,
    listenerCount: () => [...listeners.values()].reduce((sum, set) => sum + set.size, 0),
  };
}
