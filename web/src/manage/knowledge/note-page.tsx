import { useState } from 'react';
import { graphql, useLazyLoadQuery } from 'react-relay';
import { useLocation } from 'wouter';
import type { notePageCreateMutation } from '../../__generated__/notePageCreateMutation.graphql.ts';
import type { notePageQuery, notePageQuery$data } from '../../__generated__/notePageQuery.graphql.ts';
import type { notePageUpdateMutation } from '../../__generated__/notePageUpdateMutation.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { useFolderChoices } from '../../pickers/use-folder-choices.ts';
import { useAct } from '../../relay/use-act.ts';
import { errorOf, TextField } from '../../ui/field.tsx';
import { Picker } from '../../ui/picker.tsx';
import { Empty } from '../../ui/states.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { Editor, EditorPage, type FormProblem, type Given } from '../kit/kit.ts';
import { placeOf } from '../kit/whose.ts';

type Note = Extract<NonNullable<notePageQuery$data['node']>, { readonly __typename: 'KnowledgeNote' }>;

/** `/manage/knowledge/:id`: one note, to be read and changed; `new` makes one. */
export function NotePage({ id }: { readonly id: string }) {
  return id === 'new' ? <NoteForm note={null} /> : <Known id={id} />;
}

function Known({ id }: { readonly id: string }) {
  const { node } = useLazyLoadQuery<notePageQuery>(
    graphql`
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
            isEnabled
            folder {
              id
              path
            }
            organization {
              id
            }
          }
        }
      }
    `,
    { id },
    { fetchPolicy: 'store-and-network' },
  );
  if (node?.__typename !== 'KnowledgeNote') {
    return <Empty title="There is no such note" text="It may have been deleted." />;
  }
  return <NoteForm key={id} note={node} />;
}

const placed = ['name', 'trigger', 'macro', 'body', 'folderId', 'pinnedRepo'];

function NoteForm({ note }: { readonly note: Note | null }) {
  const { organization, may } = useSigned();
  const toasts = useToasts();
  const [, go] = useLocation();
  const asked = new URLSearchParams(location.search);
  const isOfEnterprise = note ? note.organization === null : asked.get('whose') === 'ENTERPRISE';
  const mayChange = may(isOfEnterprise ? 'MANAGE_ACCOUNT_KNOWLEDGE' : 'MANAGE_ORG_KNOWLEDGE');
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const folders = useFolderChoices(organization?.organizationId ?? '');
  const [create, isCreating] = useAct<notePageCreateMutation>(
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
  const [update, isUpdating] = useAct<notePageUpdateMutation>(
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
            isEnabled
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
  const submit = async (given: Given) => {
    const input = {
      name: given.text('name'),
      trigger: given.text('trigger'),
      macro: given.word('macro'),
      body: given.raw('body'),
      pinnedRepo: given.word('pinnedRepo'),
      isEnabled: given.isOn('isEnabled'),
      ...(isOfEnterprise ? {} : { folderId: given.word('folderId') }),
    };
    const { errors: refused } = note
      ? await update({ input: { ...input, knowledgeNoteId: note.knowledgeNoteId } })
      : await create({ input: { ...input, ...placeOf(isOfEnterprise, organization) } });
    setErrors(refused);
    if (refused !== null) return;
    toasts.say(`${input.name} is saved.`);
    go('/manage/knowledge');
  };
  return (
    <EditorPage
      title={note ? note.name : isOfEnterprise ? 'New note of the enterprise' : 'New note'}
      list="/manage/knowledge"
      isBusy={isCreating || isUpdating}
      {...{ mayChange, errors, placed }}
      onSubmit={(given) => void submit(given)}
    >
      <div className="fields">
        <TextField
          label="Name"
          name="name"
          required
          autoFocus={note === null}
          defaultValue={note?.name}
          error={errorOf(errors, 'name')}
        />
        <TextField
          label="Trigger"
          name="trigger"
          required
          defaultValue={note?.trigger}
          placeholder="When working on the billing service"
          hint="When an agent should know it."
          error={errorOf(errors, 'trigger')}
        />
        <TextField
          label="Macro"
          name="macro"
          placeholder="!billing"
          spellCheck={false}
          defaultValue={note?.macro ?? ''}
          error={errorOf(errors, 'macro')}
        />
        <TextField
          label="Pinned to"
          name="pinnedRepo"
          placeholder="owner/repo, or all"
          spellCheck={false}
          defaultValue={note?.pinnedRepo ?? ''}
          hint="Told to every agent that works on it."
          error={errorOf(errors, 'pinnedRepo')}
        />
        {!isOfEnterprise && (
          <Picker
            label="Folder"
            name="folderId"
            none="None"
            source={folders}
            defaultValue={note ? (note.folder?.id ?? '') : (asked.get('folder') ?? '')}
            valueLabel={note?.folder?.path}
            error={errorOf(errors, 'folderId')}
          />
        )}
      </div>
      <label className="check">
        <input type="checkbox" name="isEnabled" defaultChecked={note?.isEnabled ?? true} /> Agents are told of it
      </label>
      <Editor
        label="Text"
        name="body"
        defaultValue={note?.body ?? ''}
        hint="Markdown"
        error={errorOf(errors, 'body')}
      />
    </EditorPage>
  );
}
