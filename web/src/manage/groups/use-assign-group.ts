import { graphql } from 'react-relay';
import type { useAssignGroupMutation } from '../../__generated__/useAssignGroupMutation.graphql.ts';
import type { useAssignGroupRemoveMutation } from '../../__generated__/useAssignGroupRemoveMutation.graphql.ts';
import { useMutation } from '../../relay/use-mutation.ts';

/** Sets a group's only role in a scope; the form shows errors. */
export function useAssignGroup() {
  return useMutation<useAssignGroupMutation>(
    graphql`
      mutation useAssignGroupMutation($input: AssignIdpGroupRoleInput!) {
        assignIdpGroupRole(input: $input) {
          idpGroup {
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

/** Removes a group's role in an organization, or all its roles. */
export function useUnassignGroup() {
  return useMutation<useAssignGroupRemoveMutation>(graphql`
    mutation useAssignGroupRemoveMutation($input: UnassignIdpGroupRoleInput!) {
      unassignIdpGroupRole(input: $input) {
        idpGroup {
          id
        }
        userErrors {
          message
          path
        }
      }
    }
  `);
}
