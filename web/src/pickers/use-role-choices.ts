import { graphql } from 'react-relay';
import type { RoleScope, useRoleChoicesQuery } from '../__generated__/useRoleChoicesQuery.graphql.ts';
import type { ChoiceSource } from '../ui/use-choices.ts';
import { useSource } from './use-source.ts';

/** The enterprise's own roles of a kind of scope. Needs VIEW_ACCOUNT_MEMBERSHIP. */
export function useRoleChoices(wanted: RoleScope): ChoiceSource {
  return useSource<useRoleChoicesQuery>(
    graphql`
      query useRoleChoicesQuery($after: String) @throwOnFieldError {
        enterprise {
          roles(first: 100, after: $after) {
            nodes {
              roleId
              name
              scope
              isBuiltIn
            }
            pageInfo {
              hasNextPage
              endCursor
            }
          }
        }
      }
    `,
    {},
    ({ enterprise }) =>
      enterprise && {
        choices: enterprise.roles.nodes
          .filter(({ scope, isBuiltIn }) => scope === wanted && !isBuiltIn)
          .map(({ roleId, name }) => ({ value: roleId, label: name })),
        pageInfo: enterprise.roles.pageInfo,
      },
  );
}
