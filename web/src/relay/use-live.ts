import { useEffect, useRef, useState } from 'react';
import { useRelayEnvironment } from 'react-relay';
import {
  type GraphQLTaggedNode,
  type OperationType,
  requestSubscription,
  type SelectorStoreUpdater,
} from 'relay-runtime';
import { markBroken, markRestored, onRecovery, waitBefore } from './connectivity.ts';
import { whenConnected } from './live-client.ts';
import { ServiceError } from './network.ts';

/** The state of a live page: up to date, or trying to reconnect. */
export type LiveState = 'connecting' | 'live' | 'offline';

interface LiveOptions<T extends OperationType> {
  readonly subscription: GraphQLTaggedNode;
  /** Must be memoized. Null: nothing to subscribe to. */
  readonly variables: T['variables'] | null;
  readonly onNext?: (data: T['response'] | null | undefined) => void;
  readonly updater?: SelectorStoreUpdater<T['response']>;
  /** Called when the subscription is restored after a break: fetch what happened meanwhile. */
  readonly onBack?: () => void;
  /** Called when the subscription starts: something may have changed since the page was read. */
  readonly onStanding?: () => void;
}

/**
 * Keeps a subscription without a cursor open while the component is mounted, through breaks of the connection. For the
 * log of a session, which has a cursor and must not have gaps, see session/transcript-store.ts.
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
    // The number of the latest attempt; earlier attempts are ignored.
    let tries = 0;
    let open: { dispose(): void } | null = null;
    const owner = {};
    const begin = () => {
      open?.dispose();
      const mine = ++tries;
      const stand = () => {
        attempt = 0;
        markRestored(owner);
        setState('live');
        if (wasBroken) latest.current.onBack?.();
        if (!hasStood) latest.current.onStanding?.();
        wasBroken = false;
        hasStood = true;
      };
      void whenConnected().then(() => {
        // The protocol does not confirm a subscription; a refused or closed one reports that sooner than this.
        if (mine === tries) settled = window.setTimeout(stand, 300);
      });
      const again = (error: Error | null) => {
        tries += 1;
        clearTimeout(settled);
        wasBroken = true;
        setState('offline');
        if (error instanceof ServiceError && !/LIMIT|HTTP_5|INTERNAL/.test(error.code)) return;
        markBroken(owner);
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
    const stopListening = onRecovery(hurry);
    return () => {
      window.removeEventListener('online', hurry);
      stopListening();
      markRestored(owner);
      tries += 1;
      clearTimeout(settled);
      clearTimeout(timer);
      open?.dispose();
    };
  }, [environment, subscription, variables]);
  return state;
}
