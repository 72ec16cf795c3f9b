import { useRef } from 'react';
import { graphql } from 'react-relay';
import type { retryMutation } from '../__generated__/retryMutation.graphql.ts';
import { newKey } from '../relay/new-key.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { Button } from '../ui/button.tsx';
import type { Entry } from './entry.ts';

interface RetryProps {
  readonly sessionId: string;
  readonly entries: readonly Entry[];
}

/** A button that sends the messages of the last turn again, if that turn was stopped or failed. */
export function Retry({ sessionId, entries }: RetryProps) {
  const [retry, isBusy] = useMutation<retryMutation>(graphql`
    mutation retryMutation($input: RetryTurnInput!) {
      retryTurn(input: $input) {
        userErrors {
          message
        }
      }
    }
  `);
  const attempt = useRef({ seq: 0, key: '' });
  const last = entries.findLast(({ __typename }) => __typename === 'TurnEvent');
  const mayRetry = last?.__typename === 'TurnEvent' && last.phase === 'STOPPED' && last.stopReason !== 'END_TURN';
  if (!mayRetry) return null;
  const send = () => {
    // A request whose response was lost is repeated with the same key.
    if (attempt.current.seq !== last.seq) attempt.current = { seq: last.seq, key: newKey() };
    void retry({ input: { sessionId, idempotencyKey: attempt.current.key } });
  };
  return (
    <p className="retry">
      <Button size="small" icon="play" isBusy={isBusy} onClick={send}>
        Retry
      </Button>
      <span>Sends the messages of the last turn again.</span>
    </p>
  );
}
