import { useCallback, useMemo } from 'react';
import { graphql } from 'react-relay';
import type { RecordSourceSelectorProxy } from 'relay-runtime';
import type { usePinMutation } from '../__generated__/usePinMutation.graphql.ts';
import type { usePinUnpinMutation } from '../__generated__/usePinUnpinMutation.graphql.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { type InboxOf, useInboxOf } from './inbox-scope.ts';
import { moveRow } from './move-row.ts';

/** A session that can be pinned. */
export interface Pinnable {
  readonly id: string;
  readonly sessionId: string;
  readonly isPinned: boolean;
}

/** Returns a function that pins a session for the viewer, or unpins it. Its row in the inbox moves at once. */
export function usePin(): (session: Pinnable) => void {
  const inbox = useInboxOf();
  const moves = useMemo(() => movesOf(inbox), [inbox]);
  const [pin] = useMutation<usePinMutation>(
    graphql`
      mutation usePinMutation($input: PinSessionInput!) {
        pinSession(input: $input) {
          session {
            sessionId
            ...inboxRow_session
          }
          userErrors {
            message
          }
        }
      }
    `,
    { updater: moves.pin },
  );
  const [unpin] = useMutation<usePinUnpinMutation>(
    graphql`
      mutation usePinUnpinMutation($input: UnpinSessionInput!) {
        unpinSession(input: $input) {
          session {
            sessionId
            ...inboxRow_session
          }
          userErrors {
            message
          }
        }
      }
    `,
    { updater: moves.unpin },
  );
  return useCallback(
    ({ id, sessionId, isPinned }) => {
      const expect = (store: RecordSourceSelectorProxy) => {
        const record = store.get(id);
        if (!record) return;
        record.setValue(!isPinned, 'isPinned');
        if (inbox) moveRow(store, inbox, sessionId, record);
      };
      void (isPinned ? unpin : pin)({ input: { sessionId } }, expect);
    },
    [inbox, pin, unpin],
  );
}

/** The updaters of both mutations. */
function movesOf(inbox: InboxOf | null) {
  const move = (name: 'pinSession' | 'unpinSession') => (store: RecordSourceSelectorProxy<object>) => {
    const record = store.getRootField(name as never) as unknown as ReturnType<typeof store.get>;
    const session = record?.getLinkedRecord('session');
    if (inbox && session) moveRow(store, inbox, String(session.getValue('sessionId')), session);
  };
  return { pin: move('pinSession'), unpin: move('unpinSession') };
}
