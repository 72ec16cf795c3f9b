/** An operation on a socket that has been asked for and has no result yet. */
export interface Starting {
  /**
   * Runs what gives the result. When the client completes the operation before that, or is gone, the result is closed and
   * the promise never settles: nothing refers to it any more, and whoever took the id again must not get it.
   */
  run<T>(work: () => T | Promise<T>): Promise<T>;
}

/**
 * Watches for a `complete` that comes before the result. graphql-ws knows operations by their ids alone, so that a
 * client that takes an id again at once would revive the operation that it has left, and nothing would ever end it. What
 * stands in its table meanwhile is closed by it like a subscription, also when the socket closes; `onLeave` is called
 * then. To be called before anything is awaited.
 */
export function watchStart(subscriptions: Record<string, unknown>, id: string, onLeave: () => void): Starting {
  let isLeft = false;
  const leave = async () => {
    isLeft = true;
    onLeave();
    return { done: true as const, value: undefined };
  };
  const placeholder: AsyncIterableIterator<never> = {
    next: leave,
    return: leave,
    [Symbol.asyncIterator]() {
      return this;
    },
  };
  subscriptions[id] = placeholder;
  return {
    async run(work) {
      const result = await work();
      if (!isLeft) return result;
      await (result as Partial<AsyncIterator<unknown>> | null)?.return?.();
      return new Promise(() => undefined);
    },
  };
}
