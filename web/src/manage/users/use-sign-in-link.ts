import { useCallback } from 'react';
import { graphql } from 'react-relay';
import type { useSignInLinkMutation } from '../../__generated__/useSignInLinkMutation.graphql.ts';
import { useMutation } from '../../relay/use-mutation.ts';

/** Returns a function that creates a sign-in link for a user and returns its address; null if it was refused, which a toast says. */
export function useSignInLink(): [create: (userId: string) => Promise<string | null>, isBusy: boolean] {
  const [commit, isBusy] = useMutation<useSignInLinkMutation>(graphql`
    mutation useSignInLinkMutation($input: CreateSignInLinkInput!) {
      createSignInLink(input: $input) {
        user {
          id
          signInLink {
            createdAt
            expiresAt
          }
        }
        url
        userErrors {
          message
        }
      }
    }
  `);
  const create = useCallback(
    async (userId: string) => (await commit({ input: { userId } })).payload?.url ?? null,
    [commit],
  );
  return [create, isBusy];
}
