import { common } from '../../texts/common.ts';
import { gitPage as texts } from '../../texts/git.ts';
import './git.css';
import { Suspense, useCallback, useState } from 'react';
import { fetchQuery, graphql, useLazyLoadQuery, useRelayEnvironment } from 'react-relay';
import type { gitPageQuery } from '../../__generated__/gitPageQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { Page } from '../../layout/page.tsx';
import { Empty, Loading } from '../../ui/states.tsx';
import { OrganizationPicker } from '../users/organization-picker.tsx';
import { ConnectionList } from './connection-list.tsx';
import { PermissionList } from './permission-list.tsx';

const query = graphql`
  query gitPageQuery($isFor: Boolean!) @throwOnFieldError {
    enterprise @include(if: $isFor) {
      gitConnections(first: 100) {
        nodes {
          gitConnectionId
          name
          ...connectionList_connection
        }
      }
    }
  }
`;

/** `/manage/git`: the git connections of the enterprise, and which organizations may use which repositories. */
export function GitPage() {
  const { organization, may } = useSigned();
  const environment = useRelayEnvironment();
  const [mayConnect, mayPermit] = [may('MANAGE_ENTERPRISE_SETTINGS'), may('MANAGE_ORGANIZATIONS')];
  const isFor = mayConnect || mayPermit;
  const { enterprise } = useLazyLoadQuery<gitPageQuery>(query, { isFor }, { fetchPolicy: 'store-and-network' });
  const reload = useCallback(
    () =>
      void fetchQuery(environment, query, { isFor })
        .toPromise()
        .catch(() => undefined),
    [environment, isFor],
  );
  const [chosen, setChosen] = useState<string | null>(null);
  if (!enterprise) {
    return <Empty title={texts.noAccess} text={texts.noAccessText} />;
  }
  const connections = enterprise.gitConnections.nodes;
  const organizationId = chosen ?? organization?.organizationId ?? '';
  return (
    <Page title={texts.git}>
      <p className="lead">{texts.intro}</p>
      <div className="sheets">
        <ConnectionList connections={connections} mayChange={mayConnect} onChanged={reload} />
        {mayPermit && (
          <section className="card sheet" aria-labelledby="permissions">
            <header>
              <h2 id="permissions">{common.permissions}</h2>
              <p>{texts.permissionsIntro}</p>
            </header>
            <div className="git-organization">
              <OrganizationPicker
                value={organizationId}
                valueLabel={organization?.name}
                error={null}
                onChange={setChosen}
              />
            </div>
            {organizationId !== '' && (
              <Suspense fallback={<Loading label={texts.loadingPermissions} rows={3} />}>
                <PermissionList key={organizationId} organizationId={organizationId} connections={connections} />
              </Suspense>
            )}
          </section>
        )}
      </div>
    </Page>
  );
}
