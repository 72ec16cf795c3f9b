/** Resolves once nothing was heard for `quietMs`, by the monotonic clock; after `mostMs` at the latest. */
export function untilQuiet(lastReceivedAt: () => number, quietMs: number, maxMs: number): Promise<void> {
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
