import { graphql } from 'react-relay';
import type { useUserChoicesQuery } from '../__generated__/useUserChoicesQuery.graphql.ts';
import type { ChoiceSource } from '../ui/use-choices.ts';
import { choiceOfUser } from './use-member-choices.ts';
import { useSource } from './use-source.ts';

/** All users of the enterprise. Needs VIEW_ACCOUNT_MEMBERSHIP. */
export function useUserChoices(): ChoiceSource {
  return useSource<useUserChoicesQuery>(
    graphql`
      query useUserChoicesQuery($after: String) @throwOnFieldError {
        enterprise {
          users(first: 100, after: $after) {
            nodes {
              userId
              name
              email
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
      enterprise && { choices: enterprise.users.nodes.map(choiceOfUser), pageInfo: enterprise.users.pageInfo },
  );
}
