import { graphql } from 'react-relay';
import type { useMemberChoicesQuery } from '../__generated__/useMemberChoicesQuery.graphql.ts';
import type { Choice, ChoiceSource } from '../ui/use-choices.ts';
import { useSource } from './use-source.ts';

/** The members of an organization. Needs VIEW_ORG_MEMBERSHIP. */
export function useMemberChoices(organizationId: string): ChoiceSource {
  return useSource<useMemberChoicesQuery>(
    graphql`
      query useMemberChoicesQuery($id: ID!, $after: String) @throwOnFieldError {
        organization(id: $id) {
          members(first: 100, after: $after) {
            nodes {
              user {
                userId
                name
                email
              }
            }
            pageInfo {
              hasNextPage
              endCursor
            }
          }
        }
      }
    `,
    { id: organizationId },
    ({ organization }) =>
      organization && {
        choices: organization.members.nodes.map(({ user }) => choiceOfUser(user)),
        pageInfo: organization.members.pageInfo,
      },
  );
}

/** A user as a choice: the name, and the email address to distinguish equal names. */
export function choiceOfUser(user: {
  readonly userId: string;
  readonly name: string | null | undefined;
  readonly email: string;
}): Choice {
  const { userId, name, email } = user;
  return name ? { value: userId, label: name, under: email } : { value: userId, label: email };
}
