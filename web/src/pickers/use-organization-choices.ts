import { graphql } from 'react-relay';
import type { useOrganizationChoicesAllQuery } from '../__generated__/useOrganizationChoicesAllQuery.graphql.ts';
import type { useOrganizationChoicesQuery } from '../__generated__/useOrganizationChoicesQuery.graphql.ts';
import type { Choice, ChoiceSource } from '../ui/use-choices.ts';
import { useSource } from './use-source.ts';

/** The organizations that the viewer may use. */
export function useOrganizationChoices(): ChoiceSource {
  return useSource<useOrganizationChoicesQuery>(
    graphql`
      query useOrganizationChoicesQuery($after: String) {
        organizations(first: 100, after: $after) {
          nodes {
            organizationId
            name
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    `,
    {},
    ({ organizations: { nodes, pageInfo } }) => ({
      choices: nodes.map(choiceOf),
      pageInfo,
    }),
  );
}

/** All organizations of the enterprise, including those that the viewer may not use. Needs READ_ACCOUNT_META. */
export function useAllOrganizationChoices(): ChoiceSource {
  return useSource<useOrganizationChoicesAllQuery>(
    graphql`
      query useOrganizationChoicesAllQuery($after: String) {
        enterprise {
          organizations(first: 100, after: $after) {
            nodes {
              organizationId
              name
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
        choices: enterprise.organizations.nodes.map(choiceOf),
        pageInfo: enterprise.organizations.pageInfo,
      },
  );
}

const choiceOf = (organization: { readonly organizationId: string; readonly name: string }): Choice => ({
  value: organization.organizationId,
  label: organization.name,
});
