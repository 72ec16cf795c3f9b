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
import { common } from '../texts/common.ts';
import { secretsPage as texts } from '../texts/secrets.ts';
import { nameOf } from '../ui/actor.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { More } from '../ui/more.tsx';
import { RichText } from '../ui/rich-text.tsx';
import { Empty } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { visible } from '../ui/visible.ts';
import { SecretForm } from './secret-form.tsx';

type Secret = secretsPage_organization$data['secrets']['edges'][number]['node'];

const typeLabel: Readonly<Record<string, string>> = texts.typeLabel;

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
  if (!organization || !found.organization) return <Empty title={common.noOrganization} />;
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
              environmentVariable
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
    {
      label: common.name,
      cell: ({ key, environmentVariable }) => (
        <>
          <code>{visible(key)}</code>
          {environmentVariable && environmentVariable !== key && (
            <p className="hint">
              <RichText text={texts.variable} slots={{ name: <code>{environmentVariable}</code> }} />
            </p>
          )}
        </>
      ),
    },
    { label: common.type, cell: ({ type }) => typeLabel[type] ?? type },
    {
      label: texts.agentOutput,
      cell: ({ isSensitive }) =>
        isSensitive ? <Badge tone="good">{texts.redacted}</Badge> : <Badge>{texts.visible}</Badge>,
    },
    { label: common.note, cell: ({ note }) => note },
    { label: texts.addedBy, cell: ({ createdBy }) => nameOf(createdBy) },
    { label: common.updated, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
    {
      label: common.actions,
      isLabelHidden: true,
      isNumber: true,
      cell: (secret) => (
        <div className="row-acts">
          <Button size="small" aria-label={common.editName({ name: secret.key })} onClick={() => setForm(secret)}>
            {common.edit}
          </Button>
          <Button
            size="small"
            tone="danger"
            aria-label={common.deleteName({ name: secret.key })}
            onClick={() => setLeaving(secret)}
          >
            {common.delete}
          </Button>
        </div>
      ),
    },
  ];
  const add = (
    <Button tone="primary" icon="plus" onClick={() => setForm('new')}>
      {texts.newSecret}
    </Button>
  );
  return (
    <Page title={common.secrets} actions={add}>
      {edges.length === 0 ? (
        <Empty title={texts.noSecretsYet} text={texts.emptyText} />
      ) : (
        <div className="card">
          <Table label={common.secrets} columns={columns} rows={edges.map(({ node }) => node)} keyOf={({ id }) => id} />
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
          title={common.deleteNameTitle({ name: leaving.key })}
          text={texts.deleteText}
          confirmLabel={common.delete}
          successMessage={common.deletedName({ name: leaving.key })}
          run={() => remove({ input: { secretId: leaving.secretId }, connections: [connectionId] })}
          onClose={() => setLeaving(null)}
        />
      )}
    </Page>
  );
}
