import { useRef, useState } from 'react';
import { graphql } from 'react-relay';
import type { useSendMutation } from '../__generated__/useSendMutation.graphql.ts';
import { newKey } from '../relay/new-key.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { findDraft, saveDraft } from '../ui/drafts.ts';
import { useAnswer } from './use-answer.ts';

/** Effect of a message while the agent works: it waits for the end of the turn, or stops it. */
export type MessageMode = 'QUEUE' | 'INTERRUPT';

/** A message that was sent but not confirmed. */
interface Sending {
  readonly message: string;
  readonly attachmentIds: readonly string[];
  /** The question that it answers; null: none. */
  readonly questionId: string | null;
  /** Effect on the current turn; null: the agent profile decides. */
  readonly mode: MessageMode | null;
  /** The idempotency key: the message counts once when it is sent again. */
  readonly key: string;
}

interface Sender {
  /**
   * Resolves to true if the message was accepted. A message repeated after a lost response counts once. `questionId`:
   * the message answers this question, or is refused. An answer has no files.
   */
  readonly send: (
    message: string,
    attachmentIds: readonly string[],
    questionId: string | null,
    mode: MessageMode | null,
  ) => Promise<boolean>;
  readonly isBusy: boolean;
  /** The message that the service has not confirmed: it did not answer, or the page was left. */
  readonly lost: Sending | null;
}

/**
 * Sends messages to a session. The session's new status comes from live updates: the response may arrive later and
 * would reset the page to an older state. `draftName`: the draft that stores a message in progress when the page is
 * left.
 */
export function useSend(sessionId: string, draftName: string | null = null): Sender {
  const [answer, isAnswering] = useAnswer();
  const [sendMessage, isBusy] = useMutation<useSendMutation>(graphql`
    mutation useSendMutation($input: SendMessageInput!) {
      sendMessage(input: $input) {
        userErrors {
          message
          path
        }
      }
    }
  `);
  const [lost, setLost] = useState(() => (draftName === null ? null : findDraft<Sending>(draftName)));
  const pending = useRef(lost);
  const recordPending = (sending: Sending | null) => {
    pending.current = sending;
    if (draftName !== null) saveDraft(draftName, sending);
  };
  const send: Sender['send'] = async (message, attachmentIds, questionId, mode) => {
    const before = pending.current;
    const isSame = before?.message === message && String(before.attachmentIds) === String(attachmentIds);
    const sending = isSame ? before : { message, attachmentIds, questionId, mode, key: newKey() };
    recordPending(sending);
    const common = { sessionId, idempotencyKey: sending.key };
    const { errors, isLost } =
      // A draft of an earlier console version has none.
      sending.questionId == null
        ? await sendMessage({ input: { ...common, body: message, attachmentIds, mode: sending.mode ?? null } })
        : await answer({ input: { ...common, questionId: sending.questionId, answer: { text: message } } });
    if (isLost) {
      setLost(sending);
      return false;
    }
    recordPending(null);
    setLost(null);
    return errors === null;
  };
  return { send, isBusy: isBusy || isAnswering, lost };
}
