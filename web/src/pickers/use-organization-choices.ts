import { graphql } from 'react-relay';
import type { useOrganizationChoicesQuery } from '../__generated__/useOrganizationChoicesQuery.graphql.ts';
import type { ChoiceSource } from '../ui/use-choices.ts';
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
      choices: nodes.map(({ organizationId, name }) => ({ value: organizationId, label: name })),
      pageInfo,
    }),
  );
}
