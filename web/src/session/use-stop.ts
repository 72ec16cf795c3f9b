import { useCallback, useEffect, useState } from 'react';
import { graphql } from 'react-relay';
import type { useStopMutation } from '../__generated__/useStopMutation.graphql.ts';
import { usePageActions } from '../layout/page-actions.ts';
import { newKey } from '../relay/new-key.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { stop as texts } from '../texts/session.ts';
import { useEscape } from '../ui/use-escape.ts';

const none = [] as const;

interface Work {
  readonly status: string;
  readonly statusDetail: string | null | undefined;
  readonly hasQuestion: boolean;
}

/** Returns whether the session has work that can be stopped: a turn, or its place in the queue. */
export function canStop({ status, statusDetail, hasQuestion }: Work): boolean {
  if (status !== 'RUNNING') return status === 'NEW' || status === 'CLAIMED' || status === 'RESUMING';
  return statusDetail !== 'FINISHED' && (statusDetail !== 'WAITING_FOR_USER' || hasQuestion);
}

interface Stop {
  /** Null: nothing can be stopped. */
  readonly stop: (() => void) | null;
  readonly isStopping: boolean;
}

/** Stops the work of a session, also with Escape, which first leaves a field with text. It is stopping until live updates show that it has stopped. */
export function useStop(sessionId: string, isPossible: boolean): Stop {
  const [interrupt, isBusy] = useMutation<useStopMutation>(graphql`
    mutation useStopMutation($input: InterruptSessionInput!) {
      interruptSession(input: $input) {
        userErrors {
          message
        }
      }
    }
  `);
  const [isRequested, setRequested] = useState(false);
  useEffect(() => {
    if (!isPossible) setRequested(false);
  }, [isPossible]);
  const isStopping = isBusy || (isRequested && isPossible);
  const stop = useCallback(() => {
    setRequested(true);
    void interrupt({ input: { sessionId, idempotencyKey: newKey() } }).then(({ errors }) => {
      if (errors !== null) setRequested(false);
    });
  }, [interrupt, sessionId]);
  const leaveOrStop = () => {
    const { activeElement } = document;
    const hasText =
      (activeElement instanceof HTMLTextAreaElement || activeElement instanceof HTMLInputElement) &&
      activeElement.value !== '';
    if (hasText) activeElement.blur();
    else stop();
  };
  useEscape(isPossible && !isStopping ? leaveOrStop : null);
  usePageActions(isPossible && !isStopping ? [{ label: texts.stopTheAgent, icon: 'stop', run: stop }] : none);
  return { stop: isPossible ? stop : null, isStopping };
}
