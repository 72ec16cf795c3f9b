import { useState } from 'react';
import { graphql, useLazyLoadQuery, usePaginationFragment } from 'react-relay';
import { Link } from 'wouter';
import type {
  snapshotsPage_organization$data,
  snapshotsPage_organization$key,
} from '../../__generated__/snapshotsPage_organization.graphql.ts';
import type { snapshotsPageDeleteMutation } from '../../__generated__/snapshotsPageDeleteMutation.graphql.ts';
import type { snapshotsPagePaginationQuery } from '../../__generated__/snapshotsPagePaginationQuery.graphql.ts';
import type { snapshotsPageQuery } from '../../__generated__/snapshotsPageQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { Page } from '../../layout/page.tsx';
import { useMutation } from '../../relay/use-mutation.ts';
import { sessionAddress } from '../../session/address.ts';
import { plainTitle } from '../../session/plain-title.ts';
import { common } from '../../texts/common.ts';
import { snapshotsPage as texts } from '../../texts/snapshots.ts';
import { nameOf } from '../../ui/actor.ts';
import { Button } from '../../ui/button.tsx';
import { useCopy } from '../../ui/copy.ts';
import { writeSize } from '../../ui/size.ts';
import { Empty } from '../../ui/states.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { visible } from '../../ui/visible.ts';
import { actionsColumn, ConfirmAction, List } from '../kit/kit.ts';
import { EditSnapshot } from './edit-snapshot.tsx';

type Snapshot = snapshotsPage_organization$data['snapshots']['edges'][number]['node'];

/** `/manage/snapshots`: the snapshots that sessions can start from. */
export function SnapshotsPage() {
  const { organization } = useSigned();
  const found = useLazyLoadQuery<snapshotsPageQuery>(
    graphql`
      query snapshotsPageQuery($id: ID!) {
        organization(id: $id) {
          ...snapshotsPage_organization
        }
      }
    `,
    { id: organization?.organizationId ?? '' },
    { fetchPolicy: 'store-and-network' },
  );
  if (!found.organization) return <Empty title={common.noOrganization} />;
  return <Snapshots organization={found.organization} />;
}

function Snapshots({ organization }: { readonly organization: snapshotsPage_organization$key }) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<
    snapshotsPagePaginationQuery,
    snapshotsPage_organization$key
  >(
    graphql`
      fragment snapshotsPage_organization on Organization
      @throwOnFieldError
      @refetchable(queryName: "snapshotsPagePaginationQuery")
      @argumentDefinitions(count: { type: "Int", defaultValue: 50 }, cursor: { type: "String" }) {
        snapshots(first: $count, after: $cursor) @connection(key: "snapshotsPage_snapshots") {
          __id
          edges {
            node {
              id
              snapshotId
              name
              description
              version
              createdAt
              createdBy {
                id
                displayName
              }
              session {
                sessionId
                title
              }
              checkpoint {
                bytes
              }
            }
          }
        }
      }
    `,
    organization,
  );
  const { may, viewer } = useSigned();
  const copy = useCopy();
  const [editing, setEditing] = useState<Snapshot | null>(null);
  const [leaving, setLeaving] = useState<Snapshot | null>(null);
  const { __id: connectionId, edges } = data.snapshots;
  const [remove] = useMutation<snapshotsPageDeleteMutation>(graphql`
    mutation snapshotsPageDeleteMutation($input: DeleteSnapshotInput!, $connections: [ID!]!) {
      deleteSnapshot(input: $input) {
        deletedSnapshotId @deleteEdge(connections: $connections)
        userErrors {
          message
        }
      }
    }
  `);
  const mayChange = ({ createdBy }: Snapshot) =>
    may('MANAGE_ORG_SESSIONS') || (createdBy != null && createdBy.id === viewer.principal?.id);
  const columns: readonly Column<Snapshot>[] = [
    {
      label: common.name,
      cell: ({ name, description }) => (
        <>
          <b>{visible(name)}</b>
          {description != null && <p className="hint">{visible(description)}</p>}
        </>
      ),
    },
    {
      label: common.session,
      cell: ({ session }) =>
        session && (
          <Link className="row-link" data-list-item href={sessionAddress(session.sessionId)}>
            {plainTitle(session.title)}
          </Link>
        ),
    },
    { label: common.size, isNumber: true, cell: ({ checkpoint }) => checkpoint && writeSize(checkpoint.bytes) },
    { label: texts.createdBy, cell: ({ createdBy }) => nameOf(createdBy) },
    { label: common.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
    actionsColumn((snapshot) => (
      <>
        <Button
          size="small"
          icon="copy"
          aria-label={texts.copyIdOf({ name: snapshot.name })}
          onClick={() => void copy(snapshot.snapshotId)}
        >
          {texts.copyId}
        </Button>
        {mayChange(snapshot) && (
          <>
            <Button
              size="small"
              aria-label={common.editName({ name: snapshot.name })}
              onClick={() => setEditing(snapshot)}
            >
              {common.edit}
            </Button>
            <Button
              size="small"
              tone="danger"
              aria-label={common.deleteName({ name: snapshot.name })}
              onClick={() => setLeaving(snapshot)}
            >
              {common.delete}
            </Button>
          </>
        )}
      </>
    )),
  ];
  return (
    <Page title={common.snapshots}>
      <List
        label={common.snapshots}
        columns={columns}
        edges={edges}
        keyOf={({ id }) => id}
        empty={{
          title: texts.noSnapshotsYet,
          text: texts.emptyText,
        }}
        hasMore={hasNext}
        isLoading={isLoadingNext}
        onMore={() => loadNext(50)}
      />
      {editing && <EditSnapshot snapshot={editing} onClose={() => setEditing(null)} />}
      {leaving && (
        <ConfirmAction
          title={common.deleteNameTitle({ name: leaving.name })}
          text={texts.deleteText}
          confirmLabel={common.delete}
          successMessage={common.deletedName({ name: leaving.name })}
          run={() => remove({ input: { snapshotId: leaving.snapshotId }, connections: [connectionId] })}
          onClose={() => setLeaving(null)}
        />
      )}
    </Page>
  );
}
