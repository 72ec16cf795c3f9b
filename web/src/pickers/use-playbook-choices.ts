import { useMemo } from 'react';
import { graphql } from 'react-relay';
import type { AccessType, usePlaybookChoicesQuery } from '../__generated__/usePlaybookChoicesQuery.graphql.ts';
import { playbookChoices as texts } from '../texts/pickers.ts';
import { type ChoiceSource, inTurn } from '../ui/use-choices.ts';
import { useSource } from './use-source.ts';

/** The playbooks that sessions of an organization may use: its own, then those of the enterprise. */
export function usePlaybookChoices(organizationId: string): ChoiceSource {
  const own = usePlaybooksOf(organizationId, 'ORGANIZATION');
  const shared = usePlaybooksOf(organizationId, 'ENTERPRISE');
  return useMemo(() => inTurn([own, shared]), [own, shared]);
}

function usePlaybooksOf(id: string, accessType: Exclude<AccessType, '%future added value'>): ChoiceSource {
  return useSource<usePlaybookChoicesQuery>(
    graphql`
      query usePlaybookChoicesQuery($id: ID!, $accessType: AccessType!, $after: String) @throwOnFieldError {
        organization(id: $id) {
          playbooks(first: 100, after: $after, filter: {accessType: $accessType}) {
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
    { id, accessType },
    ({ organization }) =>
      organization && {
        choices: organization.playbooks.nodes.map(({ playbookId, title, macro }) => ({
          value: playbookId,
          label: title,
          under: [macro, accessType === 'ENTERPRISE' ? texts.ofTheEnterprise : null].filter(Boolean).join(', '),
        })),
        pageInfo: organization.playbooks.pageInfo,
      },
  );
}
