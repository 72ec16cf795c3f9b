import { useState } from 'react';
import { graphql, useLazyLoadQuery } from 'react-relay';
import { Link } from 'wouter';
import type { serviceUserPageQuery } from '../../__generated__/serviceUserPageQuery.graphql.ts';
import { NotFound } from '../../layout/not-found.tsx';
import { Page } from '../../layout/page.tsx';
import { common } from '../../texts/common.ts';
import { serviceUserPage as texts } from '../../texts/service-users.ts';
import { Button } from '../../ui/button.tsx';
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
    return (
      <NotFound
        title={texts.serviceUserNotFound}
        text={common.mayBeDeleted}
        path="/manage/service-users"
        list={common.serviceUsers}
      />
    );
  }
  const again = () => setFetchKey((before) => before + 1);
  const { serviceUserId, displayName, roleAssignments, apiKeys, createdAt, expiresAt } = node;
  return (
    <Page
      title={displayName}
      actions={
        <Button tone="primary" icon="plus" onClick={() => setNew(true)}>
          {common.createKey}
        </Button>
      }
    >
      <div className="sheets">
        <section className="card sheet" aria-label={texts.serviceUser}>
          <dl className="facts">
            <dt>{texts.id}</dt>
            <dd>
              <code>{serviceUserId}</code>
            </dd>
            <dt>{common.roles}</dt>
            <dd>
              {roleAssignments.nodes
                .map(({ role, organization, organizationId }) =>
                  organizationId
                    ? texts.inOrganization({ role: role.name, organization: organization?.name ?? organizationId })
                    : texts.inEnterprise({ role: role.name }),
                )
                .join(', ')}
            </dd>
            <dt>{common.created}</dt>
            <dd>
              <Time at={createdAt} />
            </dd>
            <dt>{common.expires}</dt>
            <dd>{expiresAt ? <Time at={expiresAt} /> : common.never}</dd>
          </dl>
        </section>
        <section className="card sheet" aria-labelledby="keys">
          <h2 id="keys">{common.keys}</h2>
          <KeyTable keys={apiKeys.nodes} onChanged={again} />
        </section>
        <p>
          <Link href="/manage/service-users">{texts.backToList}</Link>
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
        <ShownOnce
          title={common.newKey}
          values={[{ label: common.token, value: token }]}
          onClose={() => setToken(null)}
        />
      )}
    </Page>
  );
}
