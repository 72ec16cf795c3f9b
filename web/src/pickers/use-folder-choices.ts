import { graphql } from 'react-relay';
import type { useFolderChoicesQuery } from '../__generated__/useFolderChoicesQuery.graphql.ts';
import type { ChoiceSource } from '../ui/use-choices.ts';
import { useSource } from './use-source.ts';

/** The folders of an organization's notes, by path. */
export function useFolderChoices(organizationId: string): ChoiceSource {
  return useSource<useFolderChoicesQuery>(
    graphql`
      query useFolderChoicesQuery($id: ID!, $after: String) @throwOnFieldError {
        organization(id: $id) {
          knowledgeFolders(first: 100, after: $after) {
            nodes {
              id
              path
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
        choices: organization.knowledgeFolders.nodes.map(({ id, path }) => ({ value: id, label: path })),
        pageInfo: organization.knowledgeFolders.pageInfo,
      },
  );
}
