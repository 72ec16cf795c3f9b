import { randomUUID } from 'node:crypto';
import type { Broadcaster, BroadcastListener } from './broadcaster.ts';

/** NOTIFY takes fewer than 8,000 bytes, and an encrypted message is a third longer. */
export const maxMessageBytes = 5_500;

/** A broadcaster within this process. A broadcaster over processes uses it for the messages that arrive. */
export interface LocalBroadcaster extends Broadcaster {
  /** Calls the listeners of a message that is written as its channel, its key and its payload, with spaces between them. */
  deliver(message: string): void;
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
    deliver(message) {
      const channelEnd = message.indexOf(' ');
      const keyEnd = message.indexOf(' ', channelEnd + 1);
      if (channelEnd < 0 || keyEnd < 0) return;
      const ofKey = listeners.get(message.slice(0, keyEnd));
      const ofChannel = listeners.get(message.slice(0, channelEnd));
      if (ofKey === undefined && ofChannel === undefined) return;
      const [key, payload] = [message.slice(channelEnd + 1, keyEnd), message.slice(keyEnd + 1)];
      call(ofKey, payload, key);
      call(ofChannel, payload, key);
    },
    notifyGap() {
      for (const listener of [...gapListeners]) listener();
    },
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
  };
}
