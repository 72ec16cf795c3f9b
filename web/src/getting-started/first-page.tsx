import { lazy, useEffect } from 'react';
import { graphql, useLazyLoadQuery } from 'react-relay';
import { Redirect } from 'wouter';
import type { firstPageQuery } from '../__generated__/firstPageQuery.graphql.ts';
import { useSigned } from '../app/gate.tsx';
import { loadWithRetry } from '../app/load-with-retry.ts';
import { maySetUp } from '../layout/navigation.ts';
import { principalKeyOf } from '../relay/viewer.ts';
import { gettingStartedPath } from './paths.ts';
import { closeSetup, isSetupClosed } from './setup-state.ts';

const HomePage = lazy(async () => ({
  default: (await loadWithRetry(() => import('../home/home-page.tsx'))).HomePage,
}));

/** `/`: leads to the first-run page until there is a session, and is then the home page for those who may start sessions. */
export function FirstPage() {
  const signed = useSigned();
  const { viewer, organization, may } = signed;
  if (organization === null || !may('USE_SESSIONS')) return <Redirect to="/sessions" replace />;
  const { organizationId } = organization;
  if (maySetUp(signed) && !isSetupClosed(principalKeyOf(viewer))) return <SetupCheck organizationId={organizationId} />;
  return <HomePage organizationId={organizationId} key={organizationId} />;
}

function SetupCheck({ organizationId }: { readonly organizationId: string }) {
  const { viewer } = useSigned();
  const { organization } = useLazyLoadQuery<firstPageQuery>(
    graphql`
      query firstPageQuery($id: ID!) {
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
  const isDone = (organization?.sessions?.nodes.length ?? 0) > 0;
  const principalKey = principalKeyOf(viewer);
  useEffect(() => {
    if (isDone) closeSetup(principalKey);
  }, [isDone, principalKey]);
  return isDone ? <HomePage organizationId={organizationId} /> : <Redirect to={gettingStartedPath} replace />;
}
