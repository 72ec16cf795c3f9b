import { useMemo } from 'react';
import { graphql } from 'react-relay';
import type { useActorChoicesServiceUsersQuery } from '../../__generated__/useActorChoicesServiceUsersQuery.graphql.ts';
import type { useActorChoicesSharedQuery } from '../../__generated__/useActorChoicesSharedQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { useMemberChoices } from '../../pickers/use-member-choices.ts';
import { useSource } from '../../pickers/use-source.ts';
import { useUserChoices } from '../../pickers/use-user-choices.ts';
import { actorChoices as texts } from '../../texts/audit.ts';
import { type Choice, type ChoiceSource, inTurn } from '../../ui/use-choices.ts';

/**
 * The possible actors of an organization: its people and services, or all of the enterprise's if the viewer may see
 * them.
 */
export function useActorChoices(organizationId: string): ChoiceSource {
  const { may } = useSigned();
  const users = useUserChoices();
  const members = useMemberChoices(organizationId);
  const all = useAllServiceUsers();
  const own = useServiceUsersOf(organizationId);
  const people = may('VIEW_ACCOUNT_MEMBERSHIP') ? users : may('VIEW_ORG_MEMBERSHIP') ? members : null;
  const services = may('MANAGE_ACCOUNT_SERVICE_USERS') ? all : may('MANAGE_ORG_SERVICE_USERS') ? own : null;
  return useMemo(() => inTurn([people, services].filter((each) => each !== null)), [people, services]);
}

// Deleted service users have entries too.
function useAllServiceUsers(): ChoiceSource {
  return useSource<useActorChoicesSharedQuery>(
    graphql`
      query useActorChoicesSharedQuery($after: String) @throwOnFieldError {
        enterprise {
          serviceUsers(first: 100, after: $after, filter: {includeInactive: true}) {
            nodes {
              serviceUserId
              displayName
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
        choices: enterprise.serviceUsers.nodes.map(choiceOfService),
        pageInfo: enterprise.serviceUsers.pageInfo,
      },
  );
}

function useServiceUsersOf(id: string): ChoiceSource {
  return useSource<useActorChoicesServiceUsersQuery>(
    graphql`
      query useActorChoicesServiceUsersQuery($id: ID!, $after: String) @throwOnFieldError {
        organization(id: $id) {
          serviceUsers(first: 100, after: $after, filter: {includeInactive: true}) {
            nodes {
              serviceUserId
              displayName
            }
            pageInfo {
              hasNextPage
              endCursor
            }
          }
        }
      }
    `,
    { id },
    ({ organization }) =>
      organization && {
        choices: organization.serviceUsers.nodes.map(choiceOfService),
        pageInfo: organization.serviceUsers.pageInfo,
      },
  );
}

const choiceOfService = (user: { readonly serviceUserId: string; readonly displayName: string }): Choice => ({
  value: user.serviceUserId,
  label: user.displayName,
  under: texts.serviceUser,
});
