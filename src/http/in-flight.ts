import type { RequestListener } from 'node:http';

/** The requests that are being answered. */
export interface InFlight {
  /** Counts what `listener` answers. */
  wrap(listener: RequestListener): RequestListener;
  /** From now on every connection ends with its answer. Resolves when all answers are out, or `patienceMs` later. */
  finish(timeoutMs: number): Promise<void>;
}

/** See {@link InFlight}. */
export function createInFlight(): InFlight {
  let count = 0;
  let isEnding = false;
  let finished: () => void = () => undefined;
  // One for all of them: a request should cost no closure for this.
  const leave = () => {
    count -= 1;
    if (count === 0) finished();
  };
  return {
    wrap: (listener) => (incoming, outgoing) => {
      count += 1;
      outgoing.on('close', leave);
      if (isEnding) outgoing.shouldKeepAlive = false;
      listener(incoming, outgoing);
    },
    async finish(timeoutMs) {
      isEnding = true;
      if (count === 0) return;
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        finished = resolve;
        timer = setTimeout(resolve, timeoutMs);
      });
      clearTimeout(timer);
    },
  };
}
