/**
 * The kinds of ephemeral messages.
 * - `draft`: a part of a draft. Its key is the session's id.
 * - `watch`: the sessions that a process watches. Its key says what happens with them.
 * - `presence`: the viewers of a session. Its key is the session's id.
 */
export type BroadcastChannel = 'draft' | 'watch' | 'presence';

/** Receives the messages of a channel. */
export type BroadcastListener = (payload: string, key: string) => void;

/**
 * Sends messages with content to the listeners of all processes. They are never stored, and any of them may be lost: a receiver
 * must be able to do without it.
 */
export interface Broadcaster {
  /** Identifies this process among the senders. */
  readonly processId: string;
  /** Maximum size in bytes of a key and a payload together, as UTF-8. A larger message is dropped. */
  readonly maxBytes: number;
  /**
   * Calls the listeners of this process at once, and those of other processes within some 25 ms. Never throws and never waits.
   * `isLocal`: only the listeners of this process. A key has no spaces.
   */
  publish(channel: BroadcastChannel, key: string, payload: string, isLocal?: boolean): void;
  /** Calls the listener for each message with a key. Returns the function that stops it. */
  subscribe(channel: BroadcastChannel, key: string, listener: BroadcastListener): () => void;
  /** Calls the listener for each message of a channel. Returns the function that stops it. */
  subscribeAll(channel: BroadcastChannel, listener: BroadcastListener): () => void;
  /** Calls the listener after messages of other processes may have been lost. Returns the function that stops it. */
  onGap(listener: () => void): () => void;
  start(): Promise<void>;
  stop(): Promise<void>;
}
