import { useCallback, useState } from 'react';
import { graphql } from 'react-relay';
import type {
  TestGitConnectionInput,
  useConnectionTestMutation,
  useConnectionTestMutation$data,
} from '../../__generated__/useConnectionTestMutation.graphql.ts';
import { useIsConfirming } from '../../relay/confirm.ts';
import { useSecretMutation } from '../../relay/use-secret-mutation.ts';
import { connectionTest as texts } from '../../texts/git-connections.ts';

type Test = NonNullable<NonNullable<useConnectionTestMutation$data['testGitConnection']>['test']>;

/** The result of a test of a connection: a sentence, and the report if the forge answered. */
export interface ConnectionTestResult {
  readonly isOk: boolean;
  readonly text: string;
  readonly report: Test['report'] | null;
}

/** Tests a connection that may not be stored yet, and keeps the last result. */
export function useConnectionTest() {
  const [run, isSending] = useSecretMutation<useConnectionTestMutation>(graphql`
    mutation useConnectionTestMutation($input: TestGitConnectionInput!) {
      testGitConnection(input: $input) {
        test {
          isOk
          message
          report {
            identity {
              login
              name
              isBot
            }
            abilities {
              ability
              permission
              isGranted
              isRequired
            }
            expiresAt
            warnings
          }
        }
        userErrors {
          message
          path
        }
      }
    }
  `);
  // The test starts once the user has confirmed the sign-in.
  const isConfirming = useIsConfirming();
  const isTesting = isSending && !isConfirming;
  const [result, setResult] = useState<ConnectionTestResult | null>(null);
  const test = useCallback(
    async (input: TestGitConnectionInput) => {
      setResult(null);
      const { payload, errors } = await run({ input });
      const found = payload?.test;
      const text = errors?.map(({ message }) => message).join(' ') ?? found?.message ?? texts.noResult;
      setResult({ isOk: found?.isOk ?? false, text, report: found?.report ?? null });
      return errors;
    },
    [run],
  );
  return { test, isTesting, result, clear: useCallback(() => setResult(null), []) };
}
