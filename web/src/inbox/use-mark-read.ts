import { useEffect, useRef } from 'react';
import { graphql, useRelayEnvironment } from 'react-relay';
import { commitLocalUpdate } from 'relay-runtime';
import type { useMarkReadMutation } from '../__generated__/useMarkReadMutation.graphql.ts';
import { separateEnvironment } from '../relay/environment.ts';
import { useMutation } from '../relay/use-mutation.ts';

/** The least time in ms between two requests: an agent at work makes its session unread again with each message. */
const everyMs = 3_000;

interface Marked {
  /** The global ID. */
  readonly id: string;
  readonly sessionId: string;
  /** The current mark; nothing is sent while it is false. */
  readonly isUnread: boolean;
}

/** Marks a session as read while the user sees its page, and when the page is left. */
export function useMarkRead({ id, sessionId, isUnread }: Marked): void {
  const environment = useRelayEnvironment();
  const [mark] = useMutation<useMarkReadMutation>(
    graphql`
      mutation useMarkReadMutation($input: MarkSessionReadInput!) {
        markSessionRead(input: $input) {
          session {
            id
            isUnread
          }
          userErrors {
            message
          }
        }
      }
    `,
    { isQuiet: true },
  );
  const last = useRef({ sessionId, at: Number.NEGATIVE_INFINITY });
  useEffect(() => {
    if (!isUnread) return;
    let timer = 0;
    let isSent = false;
    const send = () => {
      if (isSent || document.visibilityState !== 'visible') return;
      isSent = true;
      last.current = { sessionId, at: performance.now() };
      void mark({ input: { sessionId } });
      // The inbox has a store of its own.
      commitLocalUpdate(separateEnvironment(environment), (store) => {
        store.get(id)?.setValue(false, 'isUnread');
      });
    };
    const soon = () => {
      clearTimeout(timer);
      const since = last.current.sessionId === sessionId ? performance.now() - last.current.at : everyMs;
      if (since >= everyMs) send();
      else timer = window.setTimeout(send, everyMs - since);
    };
    soon();
    document.addEventListener('visibilitychange', soon);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', soon);
      send();
    };
  }, [environment, mark, id, sessionId, isUnread]);
}
