/** See {@link createPoller}. */
export interface Poller {
  /** Polls now, or once more after the current poll. */
  poll(): void;
  stop(): Promise<void>;
}

/**
 * Polls on request, one poll at a time, and again after the number of ms that the last poll returned. `run` never
 * rejects.
 */
export function createPoller(run: (isStopped: () => boolean) => Promise<number>): Poller {
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> | null = null;
  let isAgain = false;
  let isStopped = false;
  const pollUntilIdle = async () => {
    let waitMs = 0;
    do {
      isAgain = false;
      waitMs = await run(() => isStopped);
    } while (isAgain && !isStopped);
    if (!isStopped) timer = setTimeout(poll, waitMs).unref();
  };
  const poll = () => {
    isAgain = true;
    if (isStopped || running !== null) return;
    if (timer) clearTimeout(timer);
    running = pollUntilIdle().finally(() => {
      running = null;
      if (isAgain) poll();
    });
  };
  return {
    poll,
    async stop() {
      isStopped = true;
      if (timer) clearTimeout(timer);
      await running;
    },
  };
}
