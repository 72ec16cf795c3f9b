import { useState } from 'react';
import { graphql, useLazyLoadQuery } from 'react-relay';
import { Link } from 'wouter';
import type { serviceUserPageQuery } from '../../__generated__/serviceUserPageQuery.graphql.ts';
import { Page } from '../../layout/page.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import { ShownOnce } from '../kit/kit.ts';
import { KeyForm } from './key-form.tsx';
import { KeyTable } from './key-table.tsx';

/** `/manage/service-users/:id`: a service user, its roles and its keys. */
export function ServiceUserPage({ id }: { readonly id: string }) {
  const [fetchKey, setFetchKey] = useState(0);
  const [isNew, setNew] = useState(false);
  const [token, setToken] = useState<string | null>(null);
  const { node } = useLazyLoadQuery<serviceUserPageQuery>(
    graphql`
      query serviceUserPageQuery($id: ID!) {
        node(id: $id) {
          __typename
          ... on ServiceUser {
            serviceUserId
            displayName
            createdAt
            expiresAt
            deletedAt
            roleAssignments(first: 20) {
              nodes {
                organizationId
                organization {
                  name
                }
                role {
                  name
                }
              }
            }
            apiKeys(first: 100) {
              nodes {
                id
                ...keyTable_keys
              }
            }
          }
        }
      }
    `,
    { id },
    { fetchPolicy: 'store-and-network', fetchKey },
  );
  if (node?.__typename !== 'ServiceUser' || node.deletedAt) {
    return <Empty title="Service user not found" text="It may have been deleted." />;
  }
  const again = () => setFetchKey((before) => before + 1);
  const { serviceUserId, displayName, roleAssignments, apiKeys, createdAt, expiresAt } = node;
  return (
    <Page
      title={displayName}
      actions={
        <Button tone="primary" icon="plus" onClick={() => setNew(true)}>
          New key
        </Button>
      }
    >
      <div className="sheets">
        <section className="card sheet" aria-label="Service user">
          <dl className="facts">
            <dt>ID</dt>
            <dd>
              <code>{serviceUserId}</code>
            </dd>
            <dt>Roles</dt>
            <dd>
              {roleAssignments.nodes
                .map(({ role, organization, organizationId }) =>
                  organizationId
                    ? `${role.name} in ${organization?.name ?? organizationId}`
                    : `${role.name} in the enterprise`,
                )
                .join(', ')}
            </dd>
            <dt>Created</dt>
            <dd>
              <Time at={createdAt} />
            </dd>
            <dt>Expires</dt>
            <dd>{expiresAt ? <Time at={expiresAt} /> : 'Never'}</dd>
          </dl>
        </section>
        <section className="card sheet" aria-labelledby="keys">
          <h2 id="keys">Keys</h2>
          <KeyTable keys={apiKeys.nodes} onChanged={again} />
        </section>
        <p>
          <Link href="/manage/service-users">All service users and keys</Link>
        </p>
      </div>
      {isNew && (
        <KeyForm
          of={{ serviceUserId }}
          connections={[]}
          onClose={() => setNew(false)}
          onDone={(made) => {
            setToken(made);
            again();
          }}
        />
      )}
      {token && (
        <ShownOnce title="New key" values={[{ label: 'Token', value: token }]} onClose={() => setToken(null)} />
      )}
    </Page>
  );
}
