/** After a load, an agent that sends nothing for this time has replayed the whole history. */
const quietMs = 400;
const maxMs = 20_000;

/** Resolves when an agent has replayed its history; `lastReceivedAt` is a time of the monotonic clock. */
export function untilReplayed(lastReceivedAt: () => number): Promise<void> {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const check = () => {
      const now = performance.now();
      const leftMs = Math.max(startedAt, lastReceivedAt()) + quietMs - now;
      if (leftMs <= 0 || now - startedAt >= maxMs) resolve();
      else setTimeout(check, leftMs);
    };
    check();
  });
}
