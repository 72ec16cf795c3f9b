/** Resolves once nothing was heard for `quietMs`, by the monotonic clock; after `mostMs` at the latest. */
export function untilQuiet(lastHeardAt: () => number, quietMs: number, mostMs: number): Promise<void> {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const look = () => {
      const now = performance.now();
      const leftMs = Math.max(startedAt, lastHeardAt()) + quietMs - now;
      if (leftMs <= 0 || now - startedAt >= mostMs) resolve();
      else setTimeout(look, leftMs);
    };
    look();
  });
}
