import type { Topic } from './topics.ts';

/**
 * The doorbell: it says that there may be something to read, and nothing more. A ring may be lost (whoever must not miss
 * anything also looks now and then) and may come twice.
 */
export interface Notifier {
  /** Never throws and never waits. */
  notify(topic: Topic): void;
  /** Calls back on each ring, from any process; gives the function that stops it. */
  subscribe(topic: Topic, listener: () => void): () => void;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** How many callbacks are registered. */
  listenerCount(): number;
}
