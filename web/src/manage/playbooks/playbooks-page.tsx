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
import { common } from '../../texts/common.ts';
import { playbooksPage as texts } from '../../texts/playbooks.ts';
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
  if (!found.organization) return <Empty title={common.noOrganization} />;
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
      label: common.title,
      cell: ({ id, title }) => (
        <Link className="row-link" data-list-item href={`/manage/playbooks/${id}`}>
          {visible(title)}
        </Link>
      ),
    },
    { label: texts.macro, cell: ({ macro }) => macro && <code>{macro}</code> },
    { label: texts.updatedBy, cell: ({ updatedBy }) => nameOf(updatedBy) },
    { label: common.updated, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
    actionsColumn((playbook) =>
      mayChange ? (
        <Button
          size="small"
          tone="danger"
          aria-label={common.deleteName({ name: playbook.title })}
          onClick={() => setLeaving(playbook)}
        >
          {common.delete}
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
      {texts.newPlaybook}
    </Button>
  ) : null;
  return (
    <Page title={common.playbooks} actions={add}>
      <div className="tool-row">
        <Select
          label={common.scope}
          value={accessType}
          onChange={(event) => onAccessType(event.target.value as AccessType)}
        >
          <option value="ORGANIZATION">{common.organization}</option>
          <option value="ENTERPRISE">{common.enterprise}</option>
        </Select>
      </div>
      <List
        label={common.playbooks}
        columns={columns}
        edges={edges}
        keyOf={({ id }) => id}
        empty={{
          title: texts.noPlaybooksYet,
          text: texts.emptyText,
        }}
        hasMore={hasNext}
        isLoading={isLoadingNext}
        onMore={() => loadNext(50)}
      />
      {leaving && (
        <ConfirmAction
          title={common.deleteNameTitle({ name: leaving.title })}
          text={texts.deleteText}
          confirmLabel={common.delete}
          successMessage={common.deletedName({ name: leaving.title })}
          run={() => remove({ input: { playbookId: leaving.playbookId }, connections: [connectionId] })}
          onClose={() => setLeaving(null)}
        />
      )}
    </Page>
  );
}
