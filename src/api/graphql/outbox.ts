/** Messages of several writers for one reader. */
export interface Outbox extends AsyncIterator<string> {
  /** Resolves when the reader has taken the message, or has gone: a writer that waits for it costs one message of memory. */
  put(message: string): Promise<void>;
  /** Nothing more is to come: what waits is dropped, and the reader is done. */
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
