import { randomUUID } from 'node:crypto';
import type { BroadcastChannel, Broadcaster, BroadcastListener } from './broadcaster.ts';

/** NOTIFY takes fewer than 8,000 bytes, and an encrypted message is a third longer. */
export const maxMessageBytes = 5_500;

/** A broadcaster within this process. A broadcaster over processes uses it for the messages that arrive. */
export interface LocalBroadcaster extends Broadcaster {
  /** Returns whether a message has a listener. */
  hasListener(channel: BroadcastChannel, key: string): boolean;
  /** Calls the listeners of {@link Broadcaster.onGap}. */
  notifyGap(): void;
}

/** `onError`: a listener threw; the others are called all the same. */
export function createLocalBroadcaster(onError: (error: unknown) => void): LocalBroadcaster {
  const listeners = new Map<string, Set<BroadcastListener>>();
  const gapListeners = new Set<() => void>();
  const add = (name: string, listener: BroadcastListener) => {
    // A wrapper of its own, so that one function can be registered twice.
    const subscription: BroadcastListener = (payload, key) => listener(payload, key);
    const set = listeners.get(name) ?? new Set();
    listeners.set(name, set.add(subscription));
    return () => {
      set.delete(subscription);
      if (set.size === 0 && listeners.get(name) === set) listeners.delete(name);
    };
  };
  const call = (set: Set<BroadcastListener> | undefined, payload: string, key: string) => {
    if (set === undefined) return;
    for (const listener of [...set]) {
      try {
        listener(payload, key);
      } catch (error) {
        onError(error);
      }
    }
  };
  return {
    processId: randomUUID(),
    maxBytes: maxMessageBytes,
    publish(channel, key, payload) {
      call(listeners.get(`${channel} ${key}`), payload, key);
      call(listeners.get(channel), payload, key);
    },
    subscribe: (channel, key, listener) => add(`${channel} ${key}`, listener),
    subscribeAll: (channel, listener) => add(channel, listener),
    onGap(listener) {
      gapListeners.add(listener);
      return () => gapListeners.delete(listener);
    },
    hasListener: (channel, key) => listeners.has(channel) || listeners.has(`${channel} ${key}`),
    notifyGap() {
      for (const listener of [...gapListeners]) listener();
    },
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
  };
}
