import { useMemo } from 'react';
import { graphql } from 'react-relay';
import type { AccessType, usePlaybookChoicesQuery } from '../__generated__/usePlaybookChoicesQuery.graphql.ts';
import { type ChoiceSource, inTurn } from '../ui/use-choices.ts';
import { useSource } from './use-source.ts';

/** The playbooks that sessions of an organization may use: its own, then those of the enterprise. */
export function usePlaybookChoices(organizationId: string): ChoiceSource {
  const own = usePlaybooksOf(organizationId, 'ORGANIZATION');
  const shared = usePlaybooksOf(organizationId, 'ENTERPRISE');
  return useMemo(() => inTurn([own, shared]), [own, shared]);
}

function usePlaybooksOf(id: string, whose: Exclude<AccessType, '%future added value'>): ChoiceSource {
  return useSource<usePlaybookChoicesQuery>(
    graphql`
      query usePlaybookChoicesQuery($id: ID!, $whose: AccessType!, $after: String) @throwOnFieldError {
        organization(id: $id) {
          playbooks(first: 100, after: $after, filter: {accessType: $whose}) {
            nodes {
              playbookId
              title
              macro
            }
            pageInfo {
              hasNextPage
              endCursor
            }
          }
        }
      }
    `,
    { id, whose },
    ({ organization }) =>
      organization && {
        choices: organization.playbooks.nodes.map(({ playbookId, title, macro }) => ({
          value: playbookId,
          label: title,
          under: [macro, whose === 'ENTERPRISE' ? 'of the enterprise' : null].filter(Boolean).join(', '),
        })),
        pageInfo: organization.playbooks.pageInfo,
      },
  );
}
