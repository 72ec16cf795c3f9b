import { useCallback, useRef } from 'react';
import { graphql } from 'react-relay';
import type { useRetryMutation } from '../__generated__/useRetryMutation.graphql.ts';
import { newKey } from '../relay/new-key.ts';
import { useMutation } from '../relay/use-mutation.ts';

/**
 * Returns a function that retries the last turn of a session, and whether it is in progress. `occasion` names the state in
 * which the user retries: a request whose response was lost is repeated with the same key in the same state.
 */
export function useRetry(sessionId: string): readonly [retry: (occasion: string) => void, isBusy: boolean] {
  const [retry, isBusy] = useMutation<useRetryMutation>(graphql`
    mutation useRetryMutation($input: RetryTurnInput!) {
      retryTurn(input: $input) {
        userErrors {
          message
        }
      }
    }
  `);
  const attempt = useRef({ occasion: '', key: '' });
  const send = useCallback(
    (occasion: string) => {
      if (attempt.current.occasion !== occasion) attempt.current = { occasion, key: newKey() };
      void retry({ input: { sessionId, idempotencyKey: attempt.current.key } });
    },
    [retry, sessionId],
  );
  return [send, isBusy];
}
