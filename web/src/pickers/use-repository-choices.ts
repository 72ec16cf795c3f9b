import { useMemo } from 'react';
import { graphql } from 'react-relay';
import type { useRepositoryChoicesQuery } from '../__generated__/useRepositoryChoicesQuery.graphql.ts';
import { type ChoiceSource, distinct, inTurn } from '../ui/use-choices.ts';
import { useForgeChoices } from './use-forge-choices.ts';
import { useSource } from './use-source.ts';

/** The repositories that an organization has used and may use, by path. The value is the host with the path. */
export function useRepositoryChoices(organizationId: string): ChoiceSource {
  return useSource<useRepositoryChoicesQuery>(
    graphql`
      query useRepositoryChoicesQuery($id: ID!, $after: String) @throwOnFieldError {
        organization(id: $id) {
          repositories(first: 100, after: $after, orderBy: { field: PATH, direction: ASC }) {
            nodes {
              host
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
        choices: organization.repositories.nodes.map(({ host, path }) => ({
          value: `${host}/${path}`,
          label: path,
          under: host,
        })),
        pageInfo: organization.repositories.pageInfo,
      },
  );
}

/** The repositories of {@link useRepositoryChoices}, and then those that the forges of the enterprise list, if the viewer may read them. */
export function useOfferedRepositories(organizationId: string): ChoiceSource {
  const used = useRepositoryChoices(organizationId);
  const listed = useForgeChoices(organizationId);
  return useMemo(() => (listed === null ? used : distinct(inTurn([used, listed]))), [used, listed]);
}
