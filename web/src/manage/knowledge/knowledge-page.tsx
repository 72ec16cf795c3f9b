import { type ReactNode, useState } from 'react';
import { graphql, useLazyLoadQuery, usePaginationFragment } from 'react-relay';
import { useLocation } from 'wouter';
import type { knowledgePage_folders$key } from '../../__generated__/knowledgePage_folders.graphql.ts';
import type { knowledgePageDeleteFolderMutation } from '../../__generated__/knowledgePageDeleteFolderMutation.graphql.ts';
import type { knowledgePageFoldersQuery } from '../../__generated__/knowledgePageFoldersQuery.graphql.ts';
import type { knowledgePageQuery } from '../../__generated__/knowledgePageQuery.graphql.ts';
import type { AccessType } from '../../__generated__/notesQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { Page } from '../../layout/page.tsx';
import { useMutation } from '../../relay/use-mutation.ts';
import { Button } from '../../ui/button.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { Empty } from '../../ui/states.tsx';
import { visible } from '../../ui/visible.ts';
import { ConfirmAction } from '../kit/kit.ts';
import type { Folder } from './folder.ts';
import { FolderForm } from './folder-form.tsx';
import { Notes } from './notes.tsx';

/** `/manage/knowledge`: the organization's notes for agents, in folders. */
export function KnowledgePage() {
  const { organization } = useSigned();
  const [accessType, setAccessType] = useState<AccessType>('ORGANIZATION');
  const [search, setSearch] = useState('');
  const [folderPath, setFolderPath] = useState<string | null>(null);
  const found = useLazyLoadQuery<knowledgePageQuery>(
    graphql`
      query knowledgePageQuery($id: ID!) {
        organization(id: $id) {
          ...knowledgePage_folders
        }
      }
    `,
    { id: organization?.organizationId ?? '' },
    { fetchPolicy: 'store-and-network' },
  );
  if (!organization || !found.organization) return <Empty title="No organization" />;
  return (
    <Knowledge
      organization={found.organization}
      organizationId={organization.organizationId}
      {...{ accessType, setAccessType, search, setSearch, folderPath, setFolderPath }}
    />
  );
}

interface KnowledgeProps {
  readonly organization: knowledgePage_folders$key;
  readonly organizationId: string;
  readonly accessType: AccessType;
  readonly setAccessType: (accessType: AccessType) => void;
  readonly search: string;
  readonly setSearch: (search: string) => void;
  readonly folderPath: string | null;
  readonly setFolderPath: (path: string | null) => void;
}

function Knowledge(props: KnowledgeProps) {
  const { organization, organizationId, accessType, setAccessType, search, setSearch, folderPath, setFolderPath } =
    props;
  const { may } = useSigned();
  const [, go] = useLocation();
  const { data, hasNext, loadNext, isLoadingNext } = usePaginationFragment<
    knowledgePageFoldersQuery,
    knowledgePage_folders$key
  >(
    graphql`
      fragment knowledgePage_folders on Organization
      @throwOnFieldError
      @refetchable(queryName: "knowledgePageFoldersQuery")
      @argumentDefinitions(count: { type: "Int", defaultValue: 100 }, cursor: { type: "String" }) {
        knowledgeFolders(first: $count, after: $cursor) @connection(key: "knowledgePage_knowledgeFolders") {
          __id
          edges {
            node {
              id
              name
              path
              description
              parent {
                id
              }
            }
          }
        }
      }
    `,
    organization,
  );
  const folders: readonly Folder[] = data.knowledgeFolders.edges
    .map(({ node }) => node)
    .toSorted((one, other) => one.path.localeCompare(other.path));
  const mayChange = may(accessType === 'ENTERPRISE' ? 'MANAGE_ACCOUNT_KNOWLEDGE' : 'MANAGE_ORG_KNOWLEDGE');
  const folder = folders.find(({ path }) => path === folderPath) ?? null;
  const query = new URLSearchParams({
    ...(accessType === 'ENTERPRISE' ? { whose: accessType } : {}),
    ...(folder ? { folder: folder.id } : {}),
  }).toString();
  const add = mayChange ? (
    <Button tone="primary" icon="plus" onClick={() => go(`/manage/knowledge/new${query ? `?${query}` : ''}`)}>
      New note
    </Button>
  ) : null;
  const isOwn = accessType === 'ORGANIZATION';
  return (
    <Page title="Knowledge" actions={add}>
      <div className="tool-row">
        <TextField
          label="Search"
          type="search"
          value={search}
          placeholder="Name, trigger or text"
          onChange={(event) => setSearch(event.target.value)}
        />
        <Select label="Scope" value={accessType} onChange={(event) => setAccessType(event.target.value as AccessType)}>
          <option value="ORGANIZATION">Organization</option>
          <option value="ENTERPRISE">Enterprise</option>
        </Select>
      </div>
      <div className={isOwn ? 'with-side' : undefined}>
        {isOwn && (
          <Folders
            {...{ folders, folder, folderPath, setFolderPath, organizationId, mayChange }}
            connectionId={data.knowledgeFolders.__id}
            more={
              hasNext ? (
                <Button size="small" isBusy={isLoadingNext} onClick={() => loadNext(100)}>
                  Show more folders
                </Button>
              ) : null
            }
          />
        )}
        <Notes
          organizationId={organizationId}
          accessType={accessType}
          search={search}
          folderPath={isOwn ? folderPath : null}
          mayChange={mayChange}
          add={add}
        />
      </div>
    </Page>
  );
}

interface FoldersProps {
  readonly folders: readonly Folder[];
  readonly folder: Folder | null;
  readonly folderPath: string | null;
  readonly setFolderPath: (path: string | null) => void;
  readonly organizationId: string;
  readonly connectionId: string;
  readonly mayChange: boolean;
  readonly more: ReactNode;
}

function Folders(props: FoldersProps) {
  const { folders, folder, folderPath, setFolderPath, organizationId, connectionId, mayChange, more } = props;
  const [form, setForm] = useState<'new' | 'change' | 'delete' | null>(null);
  const [remove] = useMutation<knowledgePageDeleteFolderMutation>(graphql`
    mutation knowledgePageDeleteFolderMutation($input: DeleteKnowledgeFolderInput!, $connections: [ID!]!) {
      deleteKnowledgeFolder(input: $input) {
        deletedKnowledgeFolderId @deleteEdge(connections: $connections)
        userErrors {
          message
        }
      }
    }
  `);
  const line = (path: string | null, label: string, depth = 0) => (
    <li key={path ?? ''}>
      <button
        type="button"
        aria-pressed={folderPath === path}
        style={{ paddingInlineStart: `${0.5 + depth}rem` }}
        onClick={() => setFolderPath(path)}
      >
        {visible(label)}
      </button>
    </li>
  );
  return (
    <section className="sheets" aria-label="Folders">
      <ul className="folders">
        {line(null, 'All notes')}
        {line('/', 'No folder')}
        {folders.map(({ path, name }) => line(path, name, path.split('/').length))}
      </ul>
      {more}
      {mayChange && (
        <div className="actions">
          <Button size="small" icon="plus" onClick={() => setForm('new')}>
            New folder
          </Button>
          {folder && (
            <>
              <Button size="small" aria-label={`Edit ${folder.name}`} onClick={() => setForm('change')}>
                Edit
              </Button>
              <Button size="small" tone="danger" aria-label={`Delete ${folder.name}`} onClick={() => setForm('delete')}>
                Delete
              </Button>
            </>
          )}
        </div>
      )}
      {(form === 'new' || form === 'change') && (
        <FolderForm
          organizationId={organizationId}
          folder={form === 'change' ? folder : null}
          parent={folder}
          connections={[connectionId]}
          onClose={() => setForm(null)}
        />
      )}
      {form === 'delete' && folder && (
        <ConfirmAction
          title={`Delete the folder ${folder.name}?`}
          text="You can delete only an empty folder. Move or delete its notes and folders first."
          confirmLabel="Delete"
          successMessage={`Deleted ${folder.name}.`}
          run={() => remove({ input: { knowledgeFolderId: folder.id }, connections: [connectionId] })}
          onClose={() => setForm(null)}
          onDone={() => setFolderPath(null)}
        />
      )}
    </section>
  );
}
