import { useCallback, useRef } from 'react';
import { graphql } from 'react-relay';
import type { useAnswerMutation } from '../__generated__/useAnswerMutation.graphql.ts';
import { newKey } from '../relay/new-key.ts';
import { useMutation } from '../relay/use-mutation.ts';

/** Answers one question of a session by its id, so that a late answer does not answer another question. */
export function useAnswer() {
  return useMutation<useAnswerMutation>(graphql`
    mutation useAnswerMutation($input: AnswerQuestionInput!) {
      answerQuestion(input: $input) {
        userErrors {
          message
          path
        }
      }
    }
  `);
}

/** Chooses an option of a question; resolves to true if it was accepted. A repeated request counts once. */
export type Choose = (questionId: string, optionId: string) => Promise<boolean>;

/** {@link Choose} in a session. */
export function useChoose(sessionId: string): Choose {
  const [answerQuestion] = useAnswer();
  const keys = useRef(new Map<string, string>());
  return useCallback(
    async (questionId, optionId) => {
      const choice = `${questionId} ${optionId}`;
      const key = keys.current.get(choice) ?? newKey();
      keys.current.set(choice, key);
      const input = { sessionId, questionId, answer: { optionId }, idempotencyKey: key };
      return (await answerQuestion({ input })).errors === null;
    },
    [answerQuestion, sessionId],
  );
}
