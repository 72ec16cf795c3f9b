/** Resolves after `quietMs` without a sign, by the monotonic clock; at the latest after `maxMs`. */
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
