import { useState } from 'react';
import { fetchQuery, graphql, useLazyLoadQuery, useRelayEnvironment } from 'react-relay';
import type { notePageCreateMutation } from '../../__generated__/notePageCreateMutation.graphql.ts';
import type { notePageQuery, notePageQuery$data } from '../../__generated__/notePageQuery.graphql.ts';
import type { notePageUpdateMutation } from '../../__generated__/notePageUpdateMutation.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { NotFound } from '../../layout/not-found.tsx';
import { useFolderChoices } from '../../pickers/use-folder-choices.ts';
import { useMutation } from '../../relay/use-mutation.ts';
import { common } from '../../texts/common.ts';
import { notePage as texts } from '../../texts/knowledge.ts';
import { errorOf, TextField } from '../../ui/field.tsx';
import { Picker } from '../../ui/picker.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { checkMacro } from '../kit/checks.ts';
import {
  Editor,
  EditorPage,
  type FormFields,
  type FormProblem,
  type Saved,
  type SaveResult,
  saveResultOf,
  type Values,
} from '../kit/kit.ts';
import { scopeOf } from '../kit/scope-input.ts';

type Note = Extract<NonNullable<notePageQuery$data['node']>, { readonly __typename: 'KnowledgeNote' }>;

/** `/manage/knowledge/:id`: one note, for reading and editing; `new` creates one. */
export function NotePage({ id }: { readonly id: string }) {
  return id === 'new' ? <NoteForm note={null} /> : <LoadedNote id={id} />;
}

const query = graphql`
  query notePageQuery($id: ID!) {
    node(id: $id) {
      __typename
      ... on KnowledgeNote {
        id
        knowledgeNoteId
        name
        trigger
        macro
        body
        pinnedRepo
        version
        updatedAt
        folder {
          id
          path
        }
        organization {
          id
        }
        viewerCanManage {
          isAllowed
        }
      }
    }
  }
`;

const usable = (node: notePageQuery$data['node']): Note | null => (node?.__typename === 'KnowledgeNote' ? node : null);

function LoadedNote({ id }: { readonly id: string }) {
  const { node } = useLazyLoadQuery<notePageQuery>(query, { id }, { fetchPolicy: 'network-only' });
  // The version at the time of opening: unsaved input survives changes by others.
  const [note] = useState(() => usable(node));
  if (!note)
    return (
      <NotFound
        title={texts.noteNotFound}
        text={common.mayBeDeleted}
        path="/manage/knowledge"
        list={common.knowledge}
      />
    );
  return <NoteForm note={note} />;
}

const labels = texts.labels;

const valuesOf = ({ name, trigger, macro, body, pinnedRepo, folder, organization }: Note): Values => ({
  name,
  trigger,
  macro: macro ?? '',
  pinnedRepo: pinnedRepo ?? '',
  ...(organization ? { folderId: folder?.id ?? '' } : {}),
  body,
});

const displayValuesOf = ({ folder }: Note): Values => ({ folderId: folder?.path ?? common.none });

const fieldNames = ['name', 'trigger', 'macro', 'body', 'folderId', 'pinnedRepo'];
const noValues: Values = { name: '', trigger: '', macro: '', pinnedRepo: '', isEnabled: 'on', body: '' };

function NoteForm({ note }: { readonly note: Note | null }) {
  const { organization, may } = useSigned();
  const toasts = useToasts();
  const searchParams = new URLSearchParams(location.search);
  const isOfEnterprise = note ? note.organization === null : searchParams.get('whose') === 'ENTERPRISE';
  const mayCreate = may(isOfEnterprise ? 'MANAGE_ACCOUNT_KNOWLEDGE' : 'MANAGE_ORG_KNOWLEDGE');
  const mayChange = note?.viewerCanManage.isAllowed ?? mayCreate;
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const folders = useFolderChoices(organization?.organizationId ?? '');
  const [create, isCreating] = useMutation<notePageCreateMutation>(
    graphql`
      mutation notePageCreateMutation($input: CreateKnowledgeNoteInput!) {
        createKnowledgeNote(input: $input) {
          knowledgeNote {
            id
          }
          userErrors {
            message
            path
          }
        }
      }
    `,
    { isQuiet: true },
  );
  const [update, isUpdating] = useMutation<notePageUpdateMutation>(
    graphql`
      mutation notePageUpdateMutation($input: UpdateKnowledgeNoteInput!) {
        updateKnowledgeNote(input: $input) {
          knowledgeNote {
            id
            name
            trigger
            macro
            body
            pinnedRepo
            version
            updatedAt
            folder {
              id
              path
            }
          }
          userErrors {
            message
            path
          }
        }
      }
    `,
    { isQuiet: true },
  );
  const organizationId = isOfEnterprise ? null : (organization?.organizationId ?? '');
  const environment = useRelayEnvironment();
  const fetchLatest = async (id: string): Promise<Saved | null> => {
    const found = await fetchQuery<notePageQuery>(environment, query, { id }).toPromise();
    const latest = usable(found?.node);
    return (
      latest && {
        values: valuesOf(latest),
        displayValues: displayValuesOf(latest),
        at: latest.updatedAt,
        version: latest.version,
        by: null,
      }
    );
  };
  const submit = async (fields: FormFields, expectedVersion: number | undefined): Promise<SaveResult> => {
    const input = {
      name: fields.text('name'),
      trigger: fields.text('trigger'),
      macro: fields.textOrNull('macro'),
      body: fields.raw('body'),
      pinnedRepo: fields.textOrNull('pinnedRepo'),
      ...(isOfEnterprise ? {} : { folderId: fields.textOrNull('folderId') }),
    };
    const { errors: refused } = note
      ? await update({ input: { ...input, knowledgeNoteId: note.knowledgeNoteId, expectedVersion } })
      : await create({
          input: { ...input, isEnabled: fields.isOn('isEnabled'), scope: scopeOf(organizationId) },
        });
    const result = saveResultOf(refused);
    setErrors(result === 'overtaken' ? null : refused);
    if (result === 'saved') toasts.say(common.savedName({ name: input.name }));
    return result;
  };
  const fresh = isOfEnterprise ? noValues : { ...noValues, folderId: searchParams.get('folder') ?? '' };
  return (
    <EditorPage
      title={note ? note.name : isOfEnterprise ? texts.newEnterpriseNote : texts.newNote}
      createLabel={texts.create}
      list="/manage/knowledge"
      draft={`note:${note?.id ?? `new:${organizationId ?? 'enterprise'}`}`}
      stored={note ? valuesOf(note) : fresh}
      fetchLatest={note && (() => fetchLatest(note.id))}
      isBusy={isCreating || isUpdating}
      {...{ labels, mayChange, errors, fieldNames }}
      onSubmit={submit}
    >
      {(values) => (
        <>
          <div className="fields pairs">
            <TextField
              label={labels.name}
              name="name"
              required
              autoFocus={note === null}
              defaultValue={values.name}
              error={errorOf(errors, 'name')}
            />
            <TextField
              label={labels.trigger}
              name="trigger"
              required
              defaultValue={values.trigger}
              placeholder={texts.triggerExample}
              hint={texts.triggerHint}
              error={errorOf(errors, 'trigger')}
            />
            <TextField
              label={labels.macro}
              name="macro"
              placeholder={texts.macroExample}
              check={checkMacro}
              spellCheck={false}
              defaultValue={values.macro}
              error={errorOf(errors, 'macro')}
            />
            <TextField
              label={labels.pinnedRepo}
              name="pinnedRepo"
              placeholder={texts.pinnedRepositoryPlaceholder}
              spellCheck={false}
              defaultValue={values.pinnedRepo}
              hint={texts.pinnedRepositoryHint}
              error={errorOf(errors, 'pinnedRepo')}
            />
            {!isOfEnterprise && (
              <Picker
                label={labels.folderId}
                name="folderId"
                none={common.none}
                source={folders}
                defaultValue={values.folderId ?? ''}
                valueLabel={values.folderId === note?.folder?.id ? note?.folder?.path : undefined}
                error={errorOf(errors, 'folderId')}
              />
            )}
          </div>
          {note === null && (
            <label className="check">
              <input type="checkbox" name="isEnabled" defaultChecked={values.isEnabled !== undefined} />{' '}
              {labels.isEnabled}
            </label>
          )}
          <Editor
            label={labels.body}
            name="body"
            defaultValue={values.body ?? ''}
            hint={common.markdownHint}
            error={errorOf(errors, 'body')}
          />
        </>
      )}
    </EditorPage>
  );
}
