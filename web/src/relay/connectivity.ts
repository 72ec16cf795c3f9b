const waiting = new Set<() => void>();

/** When the service answers again. */
export function whenReachable(): Promise<void> {
  return new Promise((resolve) => waiting.add(resolve));
}

/** To be called whenever the service has answered. */
export function markReachable(): void {
  for (const each of waiting) each();
  waiting.clear();
}
