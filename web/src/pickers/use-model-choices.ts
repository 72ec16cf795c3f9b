import { useMemo } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import type { useModelChoicesQuery } from '../__generated__/useModelChoicesQuery.graphql.ts';
import type { ChoiceSource } from '../ui/use-choices.ts';

/** The models that an agent can use with the viewer's key in an organization. */
export function useModelChoices(agentId: string, organizationId: string): ChoiceSource {
  const environment = useRelayEnvironment();
  return useMemo<ChoiceSource>(
    () => async () => {
      const answer = await fetchQuery<useModelChoicesQuery>(
        environment,
        graphql`
          query useModelChoicesQuery($agent: ID!, $organization: ID!) {
            agent(id: $agent) {
              models(organizationId: $organization)
            }
          }
        `,
        { agent: agentId, organization: organizationId },
        { networkCacheConfig: { force: true } },
      ).toPromise();
      const models = answer?.agent?.models ?? [];
      return { choices: models.map((model) => ({ value: model, label: model })), next: null };
    },
    [environment, agentId, organizationId],
  );
}
