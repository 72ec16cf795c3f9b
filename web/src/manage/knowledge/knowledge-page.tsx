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
import { common } from '../../texts/common.ts';
import { knowledgePage as texts } from '../../texts/knowledge.ts';
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
  if (!organization || !found.organization) return <Empty title={common.noOrganization} />;
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
      {texts.newNote}
    </Button>
  ) : null;
  const isOwn = accessType === 'ORGANIZATION';
  return (
    <Page title={common.knowledge} actions={add}>
      <div className="tool-row">
        <TextField
          label={common.search}
          type="search"
          value={search}
          placeholder={texts.searchPlaceholder}
          onChange={(event) => setSearch(event.target.value)}
        />
        <Select
          label={common.scope}
          value={accessType}
          onChange={(event) => setAccessType(event.target.value as AccessType)}
        >
          <option value="ORGANIZATION">{common.organization}</option>
          <option value="ENTERPRISE">{common.enterprise}</option>
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
                  {texts.showMoreFolders}
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
    <section className="sheets" aria-label={texts.folders}>
      <ul className="folders">
        {line(null, texts.allNotes)}
        {line('/', texts.noFolder)}
        {folders.map(({ path, name }) => line(path, name, path.split('/').length))}
      </ul>
      {more}
      {mayChange && (
        <div className="actions">
          <Button size="small" icon="plus" onClick={() => setForm('new')}>
            {texts.newFolder}
          </Button>
          {folder && (
            <>
              <Button
                size="small"
                aria-label={common.editName({ name: folder.name })}
                onClick={() => setForm('change')}
              >
                {common.edit}
              </Button>
              <Button
                size="small"
                tone="danger"
                aria-label={common.deleteName({ name: folder.name })}
                onClick={() => setForm('delete')}
              >
                {common.delete}
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
          title={texts.deleteFolderTitle({ name: folder.name })}
          text={texts.deleteFolderText}
          confirmLabel={common.delete}
          successMessage={common.deletedName({ name: folder.name })}
          run={() => remove({ input: { knowledgeFolderId: folder.id }, connections: [connectionId] })}
          onClose={() => setForm(null)}
          onDone={() => setFolderPath(null)}
        />
      )}
    </section>
  );
}
