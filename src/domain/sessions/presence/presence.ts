import type { Owner } from '../../../auth/viewer.ts';
import type { Broadcaster } from '../../../realtime/broadcaster.ts';
import { type PresenceMessage, readPresence, writePresence } from './presence-message.ts';

/** Time in ms after which a client that reports nothing is gone. */
export const presenceMs = 10_000;
/** Time in ms between two searches for clients that are gone. */
const sweepMs = 1_000;
/** Maximum number of clients of a session, and of sessions, that a process knows; reports of more are ignored. */
const maxClients = 100;
/** Maximum number of clients of a principal in a session; the newest replaces the one that reported longest ago. */
const maxOwnClients = 10;
const maxSessions = 20_000;

/** A principal that views a session, in one client or several. */
export interface SessionViewer extends Owner {
  /** True if it types a message in one of them. */
  readonly isTyping: boolean;
}

/** The viewers of sessions, as their clients report them to any process. Never stored. */
export interface Presence {
  /** Reports a client to all processes. */
  report(sessionId: string, message: PresenceMessage): void;
  /** Returns the viewers of a session, each once, in the order of their arrival. */
  viewersOf(sessionId: string): readonly SessionViewer[];
  /** Calls the listener when the viewers of a session have changed. Returns the function that stops it. */
  listen(sessionId: string, listener: () => void): () => void;
  /** Number of listeners. */
  count(): number;
  start(): void;
  stop(): void;
}

interface Client {
  readonly message: PresenceMessage;
  readonly seenAt: number;
}

const ownerKey = ({ userId, serviceUserId, serviceKeyId }: Owner) => `${userId}:${serviceUserId}:${serviceKeyId}`;

/** Returns the key of the client that a new one replaces; null: its principal may have one more. */
function replacedClient(clients: ReadonlyMap<string, Client>, message: PresenceMessage): string | null {
  const own = [...clients].filter(([, client]) => ownerKey(client.message) === ownerKey(message));
  if (own.length < maxOwnClients) return null;
  return own.reduce((oldest, each) => (each[1].seenAt < oldest[1].seenAt ? each : oldest))[0];
}

/** Creates {@link Presence}. `now`: the monotonic clock in ms. */
export function createPresence(broadcaster: Broadcaster, now: () => number = () => performance.now()): Presence {
  /** The clients of each session. The principal is part of a client's key, so that nobody reports for another one. */
  const sessions = new Map<string, Map<string, Client>>();
  const listeners = new Map<string, Set<() => void>>();
  let unsubscribe: () => void = () => undefined;
  let timer: NodeJS.Timeout | null = null;

  const notify = (sessionId: string) => {
    for (const listener of [...(listeners.get(sessionId) ?? [])]) listener();
  };
  const take = (payload: string, sessionId: string) => {
    const message = readPresence(payload);
    if (message === null) return;
    const clients = sessions.get(sessionId) ?? new Map<string, Client>();
    const key = `${ownerKey(message)} ${message.clientId}`;
    const before = clients.get(key);
    if (message.hasLeft) {
      if (!clients.delete(key)) return;
      if (clients.size === 0) sessions.delete(sessionId);
      notify(sessionId);
      return;
    }
    if (before === undefined) {
      const replaced = replacedClient(clients, message);
      if (replaced !== null) clients.delete(replaced);
      else if (clients.size >= maxClients || sessions.size >= maxSessions) return;
    }
    clients.set(key, { message, seenAt: now() });
    sessions.set(sessionId, clients);
    if (before?.message.isTyping !== message.isTyping) notify(sessionId);
  };
  const sweep = () => {
    for (const [sessionId, clients] of sessions) {
      const { size } = clients;
      for (const [key, { seenAt }] of clients) if (now() - seenAt >= presenceMs) clients.delete(key);
      if (clients.size === 0) sessions.delete(sessionId);
      if (clients.size < size) notify(sessionId);
    }
  };

  return {
    report: (sessionId, message) => broadcaster.publish('presence', sessionId, writePresence(message)),
    viewersOf(sessionId) {
      const viewers = new Map<string, SessionViewer>();
      for (const { message, seenAt } of sessions.get(sessionId)?.values() ?? []) {
        if (now() - seenAt >= presenceMs) continue;
        const { userId, serviceUserId, serviceKeyId } = message;
        const key = ownerKey(message);
        const isTyping = message.isTyping || viewers.get(key)?.isTyping === true;
        viewers.set(key, { userId, serviceUserId, serviceKeyId, isTyping });
      }
      return [...viewers.values()];
    },
    listen(sessionId, listener) {
      const set = listeners.get(sessionId) ?? new Set();
      listeners.set(sessionId, set.add(listener));
      return () => {
        set.delete(listener);
        if (set.size === 0 && listeners.get(sessionId) === set) listeners.delete(sessionId);
      };
    },
    count: () => [...listeners.values()].reduce((sum, { size }) => sum + size, 0),
    start() {
      unsubscribe = broadcaster.subscribeAll('presence', take);
      timer = setInterval(sweep, sweepMs).unref();
    },
    stop() {
      unsubscribe();
      if (timer) clearInterval(timer);
    },
  };
}
