import { useEffect, useRef, useState } from 'react';
import { useRelayEnvironment } from 'react-relay';
import {
  type GraphQLTaggedNode,
  type OperationType,
  requestSubscription,
  type SelectorStoreUpdater,
} from 'relay-runtime';
import { whenConnected } from './live-client.ts';
import { ServiceError } from './network.ts';

/** How a live page stands: what it shows is current, or it is trying to become so again. */
export type LiveState = 'connecting' | 'live' | 'offline';

/** The wait before the next try grows up to this. */
const maxWaitMs = 10_000;

/** A wait before the `attempt`-th try, counted from 0; scattered, so that not all browsers come back at once. */
export function waitBefore(attempt: number): number {
  return Math.min(maxWaitMs, 400 * 2 ** attempt) * (0.5 + Math.random() / 2);
}

interface LiveOptions<T extends OperationType> {
  readonly subscription: GraphQLTaggedNode;
  /** Must keep its identity while it says the same. Null: nothing to subscribe to. */
  readonly variables: T['variables'] | null;
  readonly onNext?: (data: T['response'] | null | undefined) => void;
  readonly updater?: SelectorStoreUpdater<T['response']>;
  /** Called when the subscription stands again after a break: what happened meanwhile is to be fetched. */
  readonly onBack?: () => void;
  /** Called when it stands for the first time: what is shown was read before, and something may have come in between. */
  readonly onStanding?: () => void;
}

/**
 * Keeps a subscription without a cursor open as long as the component is there, through breaks of the connection. For the
 * log of a session, which has a cursor and must have no gap, see session/feed.ts.
 */
export function useLive<T extends OperationType>(options: LiveOptions<T>): LiveState {
  const environment = useRelayEnvironment();
  const [state, setState] = useState<LiveState>('connecting');
  const latest = useRef(options);
  latest.current = options;
  const { subscription, variables } = options;
  useEffect(() => {
    if (variables === null) return;
    let attempt = 0;
    let timer = 0;
    let wasBroken = false;
    let hasStood = false;
    let settled = 0;
    // Of the latest try; what an earlier one waits for counts no longer.
    let tries = 0;
    let open: { dispose(): void } | null = null;
    const begin = () => {
      open?.dispose();
      const mine = ++tries;
      const stand = () => {
        attempt = 0;
        setState('live');
        if (wasBroken) latest.current.onBack?.();
        if (!hasStood) latest.current.onStanding?.();
        wasBroken = false;
        hasStood = true;
      };
      void whenConnected().then(() => {
        // Nothing says that a subscription stands; one that is refused or cut says so sooner than this.
        if (mine === tries) settled = window.setTimeout(stand, 300);
      });
      const again = (error: Error | null) => {
        tries += 1;
        clearTimeout(settled);
        wasBroken = true;
        setState('offline');
        if (error instanceof ServiceError && !/LIMIT|HTTP_5|INTERNAL/.test(error.code)) return;
        timer = window.setTimeout(begin, waitBefore(attempt++));
      };
      open = requestSubscription<T>(environment, {
        subscription,
        variables,
        ...(latest.current.updater ? { updater: (store, data) => latest.current.updater?.(store, data) } : {}),
        onNext: (data) => latest.current.onNext?.(data),
        onError: again,
        onCompleted: () => again(null),
      });
    };
    const hurry = () => {
      clearTimeout(timer);
      if (wasBroken) begin();
    };
    begin();
    window.addEventListener('online', hurry);
    return () => {
      window.removeEventListener('online', hurry);
      tries += 1;
      clearTimeout(settled);
      clearTimeout(timer);
      open?.dispose();
    };
  }, [environment, subscription, variables]);
  return state;
}
