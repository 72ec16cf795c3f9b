/** A queue of messages from several writers to one reader. */
export interface Outbox extends AsyncIterator<string> {
  /**
   * Resolves when the reader has taken the message or has disconnected, so that a waiting writer costs the memory of one
   * message.
   */
  put(message: string): Promise<void>;
  /** Ends the queue: waiting messages are dropped, and the reader gets `done`. */
  end(): void;
}

/** See {@link Outbox}. */
export function createOutbox(): Outbox {
  const waiting: { message: string; taken: () => void }[] = [];
  let wake: () => void = () => undefined;
  let isEnded = false;
  const end = () => {
    isEnded = true;
    for (const { taken } of waiting.splice(0)) taken();
    wake();
  };
  return {
    put(message) {
      if (isEnded) return Promise.resolve();
      return new Promise((taken) => {
        waiting.push({ message, taken });
        wake();
      });
    },
    end,
    async next() {
      for (;;) {
        const first = waiting.shift();
        if (first) {
          first.taken();
          return { done: false, value: first.message };
        }
        if (isEnded) return { done: true, value: undefined };
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    async return() {
      end();
      return { done: true, value: undefined };
    },
  };
}
