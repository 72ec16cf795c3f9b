import { graphql } from 'react-relay';
import type { useTagChoicesQuery } from '../__generated__/useTagChoicesQuery.graphql.ts';
import { useSigned } from '../app/gate.tsx';
import type { ChoiceSource } from '../ui/use-choices.ts';
import { useSource } from './use-source.ts';

/** The tags that an organization's sessions have, and those that they may have if the viewer may read these. */
export function useTagChoices(organizationId: string): ChoiceSource {
  const { may } = useSigned();
  return useSource<useTagChoicesQuery>(
    graphql`
      query useTagChoicesQuery($id: ID!, $seesAllowed: Boolean!) @throwOnFieldError {
        organization(id: $id) {
          tagsInUse
          allowedTags @include(if: $seesAllowed)
        }
      }
    `,
    { id: organizationId, seesAllowed: may('MANAGE_ENTERPRISE_SETTINGS') },
    ({ organization }) => {
      const tags = new Set([...(organization?.tagsInUse ?? []), ...(organization?.allowedTags ?? [])]);
      const choices = [...tags].sort((one, other) => one.localeCompare(other));
      return { choices: choices.map((tag) => ({ value: tag, label: tag })), pageInfo: noMore };
    },
  );
}

const noMore = { hasNextPage: false, endCursor: null };
