import { graphql } from 'react-relay';
import type { useSnapshotChoicesQuery } from '../__generated__/useSnapshotChoicesQuery.graphql.ts';
import type { ChoiceSource } from '../ui/use-choices.ts';
import { useSource } from './use-source.ts';

/** The snapshots that sessions of an organization can start from, by name. */
export function useSnapshotChoices(organizationId: string): ChoiceSource {
  return useSource<useSnapshotChoicesQuery>(
    graphql`
      query useSnapshotChoicesQuery($id: ID!, $after: String) @throwOnFieldError {
        organization(id: $id) {
          snapshots(first: 100, after: $after, orderBy: {field: NAME, direction: ASC}) {
            nodes {
              snapshotId
              name
              description
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
        choices: organization.snapshots.nodes.map(({ snapshotId, name, description }) => ({
          value: snapshotId,
          label: name,
          under: description ?? '',
        })),
        pageInfo: organization.snapshots.pageInfo,
      },
  );
}
