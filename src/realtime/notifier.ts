import type { Topic } from './topics.ts';

/**
 * Reports that there may be something to read, without any content. A notification may be missed (a reader that needs
 * every change also polls) and may arrive twice.
 */
export interface Notifier {
  /** Never throws and never waits. */
  notify(topic: Topic): void;
  /** Calls the listener for each notification, from any process. Returns the function that stops it. */
  subscribe(topic: Topic, listener: () => void): () => void;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Number of registered listeners. */
  listenerCount(): number;
  /** Number of messages of other processes that this one has received. Each has the topics of some milliseconds. */
  receivedCount(): number;
}
