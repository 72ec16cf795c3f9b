import { useDeferredValue, useState } from 'react';
import { graphql, useLazyLoadQuery, usePaginationFragment } from 'react-relay';
import type { RecordSourceSelectorProxy } from 'relay-runtime';
import { Link } from 'wouter';
import type {
  notes_organization$data,
  notes_organization$key,
} from '../../__generated__/notes_organization.graphql.ts';
import type { notesDeleteMutation } from '../../__generated__/notesDeleteMutation.graphql.ts';
import type { notesDisableMutation } from '../../__generated__/notesDisableMutation.graphql.ts';
import type { notesEnableMutation } from '../../__generated__/notesEnableMutation.graphql.ts';
import type { notesPaginationQuery } from '../../__generated__/notesPaginationQuery.graphql.ts';
import type { AccessType, notesQuery } from '../../__generated__/notesQuery.graphql.ts';
import { useMutation } from '../../relay/use-mutation.ts';
import { common } from '../../texts/common.ts';
import { notes as texts } from '../../texts/knowledge.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { visible } from '../../ui/visible.ts';
import { actionsColumn, ConfirmAction, List } from '../kit/kit.ts';

type Note = notes_organization$data['knowledgeNotes']['edges'][number]['node'];

interface NotesProps {
  readonly organizationId: string;
  readonly accessType: AccessType;
  readonly search: string;
  /** "/": in no folder; null: in any folder or none. */
  readonly folderPath: string | null;
  readonly mayChange: boolean;
}

/** The notes that match. */
export function Notes({ organizationId, accessType, search, folderPath, ...rest }: NotesProps) {
  const variables = { id: organizationId, accessType, search: search.trim() || null, folderPath };
  const deferredVariables = useDeferredValue(JSON.stringify(variables));
  const { organization } = useLazyLoadQuery<notesQuery>(
    graphql`
      query notesQuery($id: ID!, $accessType: AccessType, $search: String, $folderPath: String) {
        organization(id: $id) {
          ...notes_organization @arguments(accessType: $accessType, search: $search, folderPath: $folderPath)
        }
      }
    `,
    JSON.parse(deferredVariables) as notesQuery['variables'],
    { fetchPolicy: 'store-and-network' },
  );
  if (!organization) return null;
  const isNarrowed = search.trim() !== '' || folderPath !== null;
  return (
    <div className={deferredVariables === JSON.stringify(variables) ? undefined : 'stale'}>
      <Found organization={organization} isNarrowed={isNarrowed} {...rest} />
    </div>
  );
}

interface FoundProps extends Pick<NotesProps, 'mayChange'> {
  readonly organization: notes_organization$key;
  readonly isNarrowed: boolean;
}

function Found({ organization, isNarrowed, mayChange }: FoundProps) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<
    notesPaginationQuery,
    notes_organization$key
  >(
    graphql`
      fragment notes_organization on Organization
      @throwOnFieldError
      @refetchable(queryName: "notesPaginationQuery")
      @argumentDefinitions(
        accessType: { type: "AccessType" }
        search: { type: "String" }
        folderPath: { type: "String" }
        count: { type: "Int", defaultValue: 50 }
        cursor: { type: "String" }
      ) {
        knowledgeNotes(
          first: $count
          after: $cursor
          filter: {accessType: $accessType, search: $search, folderPath: $folderPath}
        ) @connection(key: "notes_knowledgeNotes", filters: ["filter"]) {
          __id
          edges {
            node {
              id
              knowledgeNoteId
              name
              trigger
              macro
              isEnabled
              pinnedRepo
              updatedAt
              folder {
                id
                path
              }
            }
          }
        }
      }
    `,
    organization,
  );
  const [leaving, setLeaving] = useState<Note | null>(null);
  const { __id: connectionId, edges } = data.knowledgeNotes;
  const [remove] = useMutation<notesDeleteMutation>(graphql`
    mutation notesDeleteMutation($input: DeleteKnowledgeNoteInput!, $connections: [ID!]!) {
      deleteKnowledgeNote(input: $input) {
        deletedKnowledgeNoteId @deleteEdge(connections: $connections)
        userErrors {
          message
        }
      }
    }
  `);
  const [enable] = useMutation<notesEnableMutation>(graphql`
    mutation notesEnableMutation($input: EnableKnowledgeNoteInput!) {
      enableKnowledgeNote(input: $input) {
        knowledgeNote {
          id
          isEnabled
        }
        userErrors {
          message
        }
      }
    }
  `);
  const [disable] = useMutation<notesDisableMutation>(graphql`
    mutation notesDisableMutation($input: DisableKnowledgeNoteInput!) {
      disableKnowledgeNote(input: $input) {
        knowledgeNote {
          id
          isEnabled
        }
        userErrors {
          message
        }
      }
    }
  `);
  const switchTo = ({ id, knowledgeNoteId }: Note, isEnabled: boolean) => {
    const expect = (store: RecordSourceSelectorProxy) => void store.get(id)?.setValue(isEnabled, 'isEnabled');
    return (isEnabled ? enable : disable)({ input: { knowledgeNoteId } }, expect);
  };
  const columns: readonly Column<Note>[] = [
    {
      label: common.name,
      cell: ({ id, name, trigger, folder }) => (
        <div>
          <Link className="row-link" data-list-item href={`/manage/knowledge/${id}`}>
            {visible(name)}
          </Link>
          <span className="under">{visible(trigger)}</span>
          {folder && <span className="under">{texts.inFolder({ path: visible(folder.path) })}</span>}
        </div>
      ),
    },
    { label: texts.macro, cell: ({ macro }) => macro && <code>{macro}</code> },
    {
      label: common.repository,
      cell: ({ pinnedRepo }) => pinnedRepo && <span className="tag">{visible(pinnedRepo)}</span>,
    },
    {
      label: common.status,
      cell: ({ isEnabled }) =>
        isEnabled ? <Badge tone="good">{common.enabled}</Badge> : <Badge>{common.disabled}</Badge>,
    },
    { label: common.updated, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
    actionsColumn((note) =>
      mayChange ? (
        <>
          <Button
            size="small"
            aria-label={
              note.isEnabled ? common.disableName({ name: note.name }) : common.enableName({ name: note.name })
            }
            onClick={() => void switchTo(note, !note.isEnabled)}
          >
            {note.isEnabled ? common.disable : common.enable}
          </Button>
          <Button
            size="small"
            tone="danger"
            aria-label={common.deleteName({ name: note.name })}
            onClick={() => setLeaving(note)}
          >
            {common.delete}
          </Button>
        </>
      ) : null,
    ),
  ];
  return (
    <div>
      <List
        label={texts.notes}
        columns={columns}
        edges={edges}
        keyOf={({ id }) => id}
        empty={
          isNarrowed
            ? { title: common.noMatches, text: texts.noMatchesText }
            : {
                title: texts.noNotesYet,
                text: texts.emptyText,
              }
        }
        hasMore={hasNext}
        isLoading={isLoadingNext}
        onMore={() => loadNext(50)}
      />
      {leaving && (
        <ConfirmAction
          title={common.deleteNameTitle({ name: leaving.name })}
          text={texts.deleteText}
          confirmLabel={common.delete}
          successMessage={common.deletedName({ name: leaving.name })}
          run={() =>
            remove({
              input: { knowledgeNoteId: leaving.knowledgeNoteId },
              connections: [connectionId],
            })
          }
          onClose={() => setLeaving(null)}
        />
      )}
    </div>
  );
}
