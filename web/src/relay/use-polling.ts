import { useEffect, useRef } from 'react';
import { fetchQuery, useRelayEnvironment } from 'react-relay';
import type { GraphQLTaggedNode, OperationType, Subscription } from 'relay-runtime';

interface PollingOptions<T extends OperationType> {
  readonly query: GraphQLTaggedNode;
  /** Must be memoized. */
  readonly variables: T['variables'];
  /** Null: no polling. */
  readonly everyMs: number | null;
  /** Called with what was read. */
  readonly onRead?: (data: T['response']) => void;
}

/**
 * Reads a query at intervals and when the user returns to the page, but not while the page is hidden. For changes that
 * no subscription reports. Components that show the same fields are updated; a failed read is ignored.
 */
export function usePolling<T extends OperationType>({ query, variables, everyMs, onRead }: PollingOptions<T>): void {
  const environment = useRelayEnvironment();
  const latest = useRef(onRead);
  latest.current = onRead;
  useEffect(() => {
    if (everyMs === null) return;
    let reading: Subscription | null = null;
    const read = () => {
      if (document.visibilityState !== 'visible' || reading?.closed === false) return;
      reading = fetchQuery<T>(environment, query, variables).subscribe({
        next: (data) => latest.current?.(data),
        error: () => undefined,
      });
    };
    const timer = window.setInterval(read, everyMs);
    document.addEventListener('visibilitychange', read);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', read);
      reading?.unsubscribe();
    };
  }, [environment, query, variables, everyMs]);
}
