import { graphql } from 'react-relay';
import type { useAssignMutation } from '../../__generated__/useAssignMutation.graphql.ts';
import type { useAssignRemoveMutation } from '../../__generated__/useAssignRemoveMutation.graphql.ts';
import { useMutation } from '../../relay/use-mutation.ts';

/** Sets a user's only role in a scope; the form shows errors. */
export function useAssign() {
  return useMutation<useAssignMutation>(
    graphql`
      mutation useAssignMutation($input: AssignRoleInput!) {
        assignRole(input: $input) {
          user {
            id
          }
          userErrors {
            message
            path
          }
        }
      }
    `,
    { isQuiet: true },
  );
}

/** Removes a user's role in a scope. */
export function useUnassign(options: { readonly isQuiet?: boolean } = {}) {
  return useMutation<useAssignRemoveMutation>(
    graphql`
      mutation useAssignRemoveMutation($input: UnassignRoleInput!) {
        unassignRole(input: $input) {
          user {
            id
          }
          userErrors {
            message
            path
          }
        }
      }
    `,
    options,
  );
}
