import type { RequestListener } from 'node:http';

/** The requests in progress. */
export interface InFlight {
  /** Counts the requests that `listener` answers. */
  wrap(listener: RequestListener): RequestListener;
  /**
   * From now on, every connection closes after its response. Resolves when all responses have been sent, or after
   * `timeoutMs`.
   */
  finish(timeoutMs: number): Promise<void>;
}

/** See {@link InFlight}. */
export function createInFlight(): InFlight {
  let count = 0;
  let isEnding = false;
  let finished: () => void = () => undefined;
  // One function for all requests, to avoid a closure per request.
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
