import { graphql } from 'react-relay';
import type { useAssignMutation } from '../../__generated__/useAssignMutation.graphql.ts';
import type { useAssignRemoveMutation } from '../../__generated__/useAssignRemoveMutation.graphql.ts';
import { useMutation } from '../../relay/use-mutation.ts';

/** Makes a role somebody's only one in a place; what is refused is for the form to show. */
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

/** Takes somebody's role in a place away. */
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
