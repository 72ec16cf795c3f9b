type Listener = (reason: string | null) => void;

const listeners = new Set<Listener>();

/** The service knows this browser no longer: whoever listens shows how to sign in. `reason`: in the service's words. */
export function noteSignedOut(reason: string | null): void {
  for (const listener of [...listeners]) listener(reason);
}

/** Hears of {@link noteSignedOut}; gives what ends that. */
export function onSignedOut(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
