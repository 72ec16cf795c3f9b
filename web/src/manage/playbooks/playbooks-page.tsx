import { useState } from 'react';
import { graphql, useLazyLoadQuery, usePaginationFragment } from 'react-relay';
import { Link, useLocation } from 'wouter';
import type {
  playbooksPage_organization$data,
  playbooksPage_organization$key,
} from '../../__generated__/playbooksPage_organization.graphql.ts';
import type { playbooksPageDeleteMutation } from '../../__generated__/playbooksPageDeleteMutation.graphql.ts';
import type { playbooksPagePaginationQuery } from '../../__generated__/playbooksPagePaginationQuery.graphql.ts';
import type { AccessType, playbooksPageQuery } from '../../__generated__/playbooksPageQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { Page } from '../../layout/page.tsx';
import { useMutation } from '../../relay/use-mutation.ts';
import { nameOf } from '../../ui/actor.ts';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/field.tsx';
import { Empty } from '../../ui/states.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { visible } from '../../ui/visible.ts';
import { actionsColumn, ConfirmAction, List } from '../kit/kit.ts';

type Playbook = playbooksPage_organization$data['playbooks']['edges'][number]['node'];

/** `/manage/playbooks`: the playbooks that sessions can use. */
export function PlaybooksPage() {
  const { organization } = useSigned();
  const [accessType, setAccessType] = useState<AccessType>('ORGANIZATION');
  const found = useLazyLoadQuery<playbooksPageQuery>(
    graphql`
      query playbooksPageQuery($id: ID!, $accessType: AccessType) {
        organization(id: $id) {
          ...playbooksPage_organization @arguments(accessType: $accessType)
        }
      }
    `,
    { id: organization?.organizationId ?? '', accessType },
    { fetchPolicy: 'store-and-network' },
  );
  if (!found.organization) return <Empty title="No organization" />;
  return <Playbooks organization={found.organization} accessType={accessType} onAccessType={setAccessType} />;
}

interface PlaybooksProps {
  readonly organization: playbooksPage_organization$key;
  readonly accessType: AccessType;
  readonly onAccessType: (accessType: AccessType) => void;
}

function Playbooks({ organization, accessType, onAccessType }: PlaybooksProps) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<
    playbooksPagePaginationQuery,
    playbooksPage_organization$key
  >(
    graphql`
      fragment playbooksPage_organization on Organization
      @throwOnFieldError
      @refetchable(queryName: "playbooksPagePaginationQuery")
      @argumentDefinitions(
        accessType: { type: "AccessType" }
        count: { type: "Int", defaultValue: 50 }
        cursor: { type: "String" }
      ) {
        playbooks(first: $count, after: $cursor, filter: {accessType: $accessType})
          @connection(key: "playbooksPage_playbooks", filters: ["filter"]) {
          __id
          edges {
            node {
              id
              playbookId
              title
              macro
              updatedAt
              updatedBy {
                displayName
              }
            }
          }
        }
      }
    `,
    organization,
  );
  const { may } = useSigned();
  const [, go] = useLocation();
  const [leaving, setLeaving] = useState<Playbook | null>(null);
  const { __id: connectionId, edges } = data.playbooks;
  const [remove] = useMutation<playbooksPageDeleteMutation>(graphql`
    mutation playbooksPageDeleteMutation($input: DeletePlaybookInput!, $connections: [ID!]!) {
      deletePlaybook(input: $input) {
        deletedPlaybookId @deleteEdge(connections: $connections)
        userErrors {
          message
        }
      }
    }
  `);
  const mayChange = may(accessType === 'ENTERPRISE' ? 'MANAGE_ACCOUNT_PLAYBOOKS' : 'MANAGE_ORG_PLAYBOOKS');
  const columns: readonly Column<Playbook>[] = [
    {
      label: 'Title',
      cell: ({ id, title }) => (
        <Link className="row-link" data-list-item href={`/manage/playbooks/${id}`}>
          {visible(title)}
        </Link>
      ),
    },
    { label: 'Macro', cell: ({ macro }) => macro && <code>{macro}</code> },
    { label: 'Updated by', cell: ({ updatedBy }) => nameOf(updatedBy) },
    { label: 'Updated', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
    actionsColumn((playbook) =>
      mayChange ? (
        <Button size="small" tone="danger" aria-label={`Delete ${playbook.title}`} onClick={() => setLeaving(playbook)}>
          Delete
        </Button>
      ) : null,
    ),
  ];
  const add = mayChange ? (
    <Button
      tone="primary"
      icon="plus"
      onClick={() => go(`/manage/playbooks/new${accessType === 'ENTERPRISE' ? '?whose=ENTERPRISE' : ''}`)}
    >
      New playbook
    </Button>
  ) : null;
  return (
    <Page title="Playbooks" actions={add}>
      <div className="tool-row">
        <Select label="Scope" value={accessType} onChange={(event) => onAccessType(event.target.value as AccessType)}>
          <option value="ORGANIZATION">Organization</option>
          <option value="ENTERPRISE">Enterprise</option>
        </Select>
      </div>
      <List
        label="Playbooks"
        columns={columns}
        edges={edges}
        keyOf={({ id }) => id}
        empty={{
          title: 'No playbooks yet',
          text: 'A playbook has reusable instructions for agents. Create one to use it in sessions.',
          action: add,
        }}
        hasMore={hasNext}
        isLoading={isLoadingNext}
        onMore={() => loadNext(50)}
      />
      {leaving && (
        <ConfirmAction
          title={`Delete ${leaving.title}?`}
          text="New sessions cannot use it. Existing sessions still show its title."
          confirmLabel="Delete"
          successMessage={`Deleted ${leaving.title}.`}
          run={() => remove({ input: { playbookId: leaving.playbookId }, connections: [connectionId] })}
          onClose={() => setLeaving(null)}
        />
      )}
    </Page>
  );
}
