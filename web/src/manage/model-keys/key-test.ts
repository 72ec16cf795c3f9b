import { useCallback } from 'react';
import { graphql } from 'react-relay';
import type { keyTestMutation, TestProviderKeyInput } from '../../__generated__/keyTestMutation.graphql.ts';
import { useSecretMutation } from '../../relay/use-secret-mutation.ts';
import { keyTest as texts } from '../../texts/model-keys.ts';
import { failureText, type KeyServer } from './failure-text.ts';

/** The result of testing a key, as a sentence. */
export interface KeyTestResult {
  readonly isOk: boolean;
  readonly text: string;
}

/** Tests a stored key, or one that is not stored yet, with one call to its server. */
export function useKeyTest() {
  const [run, isTesting] = useSecretMutation<keyTestMutation>(graphql`
    mutation keyTestMutation($input: TestProviderKeyInput!) {
      testProviderKey(input: $input) {
        test {
          isOk
          message
        }
        userErrors {
          message
        }
      }
    }
  `);
  const test = useCallback(
    async (input: TestProviderKeyInput, server: KeyServer): Promise<KeyTestResult> => {
      const { payload, errors } = await run({ input });
      if (errors !== null) return { isOk: false, text: errors.map(({ message }) => message).join(' ') };
      const { isOk = false, message } = payload.test ?? {};
      return { isOk, text: message === undefined ? texts.noResult : isOk ? message : failureText(message, server) };
    },
    [run],
  );
  return { test, isTesting };
}
