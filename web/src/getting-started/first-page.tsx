import { useEffect } from 'react';
import { graphql, useLazyLoadQuery } from 'react-relay';
import { Redirect } from 'wouter';
import type { firstPageQuery } from '../__generated__/firstPageQuery.graphql.ts';
import { useSigned } from '../app/gate.tsx';
import { principalKeyOf } from '../relay/viewer.ts';
import { gettingStartedPath } from './paths.ts';
import { closeSetup, isSetUp, isSetupClosed } from './setup-state.ts';

/** `/`: leads to the first-run page until the service is set up, and then to the sessions. */
export function FirstPage() {
  const { viewer, organization, may } = useSigned();
  const mustAsk =
    organization !== null &&
    may('MANAGE_ENTERPRISE_SETTINGS') &&
    may('USE_SESSIONS') &&
    !isSetupClosed(principalKeyOf(viewer));
  return mustAsk ? <SetupCheck organizationId={organization.organizationId} /> : <Redirect to="/sessions" replace />;
}

function SetupCheck({ organizationId }: { readonly organizationId: string }) {
  const { viewer } = useSigned();
  const { agents, organization } = useLazyLoadQuery<firstPageQuery>(
    graphql`
      query firstPageQuery($id: ID!) {
        agents {
          agentId
          keySource(organizationId: $id)
        }
        organization(id: $id) {
          sessions(first: 1) {
            nodes {
              id
            }
          }
        }
      }
    `,
    { id: organizationId },
  );
  const isDone = isSetUp({ agents, sessions: organization?.sessions });
  const principalKey = principalKeyOf(viewer);
  useEffect(() => {
    if (isDone) closeSetup(principalKey);
  }, [isDone, principalKey]);
  return <Redirect to={isDone ? '/sessions' : gettingStartedPath} replace />;
}
