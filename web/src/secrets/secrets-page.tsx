import { startTransition, useState } from 'react';
import { graphql, useLazyLoadQuery, usePaginationFragment } from 'react-relay';
import type {
  secretsPage_organization$data,
  secretsPage_organization$key,
} from '../__generated__/secretsPage_organization.graphql.ts';
import type { secretsPageDeleteMutation } from '../__generated__/secretsPageDeleteMutation.graphql.ts';
import type { secretsPagePaginationQuery } from '../__generated__/secretsPagePaginationQuery.graphql.ts';
import type { secretsPageQuery } from '../__generated__/secretsPageQuery.graphql.ts';
import { useSigned } from '../app/gate.tsx';
import { Page } from '../layout/page.tsx';
import { ConfirmAction } from '../manage/kit/kit.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { nameOf } from '../ui/actor.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { More } from '../ui/more.tsx';
import { Empty } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { visible } from '../ui/visible.ts';
import { SecretForm } from './secret-form.tsx';

type Secret = secretsPage_organization$data['secrets']['edges'][number]['node'];

const typeLabel: Readonly<Record<string, string>> = { KEY_VALUE: 'Value', COOKIE: 'Cookies', TOTP: 'One-time codes' };

/** `/manage/secrets`: the credentials of agents. Values can be written but not read. */
export function SecretsPage() {
  const { organization } = useSigned();
  const found = useLazyLoadQuery<secretsPageQuery>(
    graphql`
      query secretsPageQuery($id: ID!) {
        organization(id: $id) {
          ...secretsPage_organization
        }
      }
    `,
    { id: organization?.organizationId ?? '' },
    { fetchPolicy: 'store-and-network' },
  );
  if (!organization || !found.organization) return <Empty title="No organization" />;
  return <Secrets organization={found.organization} organizationId={organization.organizationId} />;
}

interface SecretsProps {
  readonly organization: secretsPage_organization$key;
  readonly organizationId: string;
}

function Secrets({ organization, organizationId }: SecretsProps) {
  const { data, hasNext, isLoadingNext, loadNext, refetch } = usePaginationFragment<
    secretsPagePaginationQuery,
    secretsPage_organization$key
  >(
    graphql`
      fragment secretsPage_organization on Organization
      @throwOnFieldError
      @refetchable(queryName: "secretsPagePaginationQuery")
      @argumentDefinitions(count: { type: "Int", defaultValue: 50 }, cursor: { type: "String" }) {
        secrets(first: $count, after: $cursor) @connection(key: "secretsPage_secrets") {
          __id
          edges {
            node {
              id
              secretId
              key
              type
              note
              isSensitive
              updatedAt
              createdBy {
                displayName
              }
            }
          }
        }
      }
    `,
    organization,
  );
  const [form, setForm] = useState<Secret | 'new' | null>(null);
  const [leaving, setLeaving] = useState<Secret | null>(null);
  const { __id: connectionId, edges } = data.secrets;
  const [remove] = useMutation<secretsPageDeleteMutation>(graphql`
    mutation secretsPageDeleteMutation($input: DeleteSecretInput!, $connections: [ID!]!) {
      deleteSecret(input: $input) {
        deletedSecretId @deleteEdge(connections: $connections)
        userErrors {
          message
        }
      }
    }
  `);
  const columns: readonly Column<Secret>[] = [
    { label: 'Name', cell: ({ key }) => <code>{visible(key)}</code> },
    { label: 'Type', cell: ({ type }) => typeLabel[type] ?? type },
    {
      label: 'Agent output',
      cell: ({ isSensitive }) => (isSensitive ? <Badge tone="good">Redacted</Badge> : <Badge>Visible</Badge>),
    },
    { label: 'Note', cell: ({ note }) => note },
    { label: 'Added by', cell: ({ createdBy }) => nameOf(createdBy) },
    { label: 'Updated', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
    {
      label: 'Actions',
      isLabelHidden: true,
      isNumber: true,
      cell: (secret) => (
        <div className="row-acts">
          <Button size="small" aria-label={`Edit ${secret.key}`} onClick={() => setForm(secret)}>
            Edit
          </Button>
          <Button size="small" tone="danger" aria-label={`Delete ${secret.key}`} onClick={() => setLeaving(secret)}>
            Delete
          </Button>
        </div>
      ),
    },
  ];
  const add = (
    <Button tone="primary" icon="plus" onClick={() => setForm('new')}>
      New secret
    </Button>
  );
  return (
    <Page title="Secrets" actions={add}>
      {edges.length === 0 ? (
        <Empty
          title="No secrets yet"
          text="Agents get secrets as environment variables. Create one to give them access to another service."
        >
          {add}
        </Empty>
      ) : (
        <div className="card">
          <Table label="Secrets" columns={columns} rows={edges.map(({ node }) => node)} keyOf={({ id }) => id} />
        </div>
      )}
      <More hasMore={hasNext} isLoading={isLoadingNext} onMore={() => loadNext(50)} />
      {form && (
        <SecretForm
          organizationId={organizationId}
          secret={form === 'new' ? null : form}
          onSaved={() => startTransition(() => void refetch({}, { fetchPolicy: 'store-and-network' }))}
          onClose={() => setForm(null)}
        />
      )}
      {leaving && (
        <ConfirmAction
          title={`Delete ${leaving.key}?`}
          text="New sessions do not get this secret. This cannot be undone."
          confirmLabel="Delete"
          successMessage={`Deleted ${leaving.key}.`}
          run={() => remove({ input: { secretId: leaving.secretId }, connections: [connectionId] })}
          onClose={() => setLeaving(null)}
        />
      )}
    </Page>
  );
}
