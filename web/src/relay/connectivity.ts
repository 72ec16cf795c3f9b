const waiting = new Set<() => void>();

/** Resolves when the service answers again. */
export function whenReachable(): Promise<void> {
  return new Promise((resolve) => waiting.add(resolve));
}

/** Call whenever the service has answered. */
export function markReachable(): void {
  for (const each of waiting) each();
  waiting.clear();
}
