import type { Notifier } from './notifier.ts';
import type { Topic } from './topics.ts';

/** A notifier within this process. A notifier over processes uses it for the notifications that arrive. */
export interface LocalNotifier extends Notifier {
  /** Notifies every topic that has a listener. */
  notifyAll(): void;
}

/** `onError`: a listener threw; the others are called all the same. */
export function createLocalNotifier(onError: (error: unknown) => void): LocalNotifier {
  const listeners = new Map<Topic, Set<() => void>>();
  const notify = (topic: Topic) => {
    const [name, id] = topic.split(':');
    if ((name === 'organization' || name === 'resources') && id !== '*') notify(`${name}:*`);
    for (const listener of [...(listeners.get(topic) ?? [])]) {
      try {
        listener();
      } catch (error) {
        onError(error);
      }
    }
  };
  return {
    notify,
    notifyAll() {
      for (const topic of [...listeners.keys()]) notify(topic);
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
    listenerCount: () => [...listeners.values()].reduce((sum, set) => sum + set.size, 0),
  };
}
