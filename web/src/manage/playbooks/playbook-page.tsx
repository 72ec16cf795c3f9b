import { useState } from 'react';
import { graphql, useLazyLoadQuery } from 'react-relay';
import { useLocation } from 'wouter';
import type { playbookPageCreateMutation } from '../../__generated__/playbookPageCreateMutation.graphql.ts';
import type { playbookPageQuery, playbookPageQuery$data } from '../../__generated__/playbookPageQuery.graphql.ts';
import type { playbookPageUpdateMutation } from '../../__generated__/playbookPageUpdateMutation.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { useAct } from '../../relay/use-act.ts';
import { errorOf, TextArea, TextField } from '../../ui/field.tsx';
import { Empty } from '../../ui/states.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { Editor, EditorPage, type FormProblem, type Given } from '../kit/kit.ts';
import { placeOf } from '../kit/whose.ts';

type Playbook = Extract<NonNullable<playbookPageQuery$data['node']>, { readonly __typename: 'Playbook' }>;

/** `/manage/playbooks/:id`: one playbook, to be read and changed; `new` makes one. */
export function PlaybookPage({ id }: { readonly id: string }) {
  return id === 'new' ? <PlaybookForm playbook={null} /> : <Known id={id} />;
}

function Known({ id }: { readonly id: string }) {
  const { node } = useLazyLoadQuery<playbookPageQuery>(
    graphql`
      query playbookPageQuery($id: ID!) {
        node(id: $id) {
          __typename
          ... on Playbook {
            id
            playbookId
            title
            macro
            body
            structuredOutputSchema
            deletedAt
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
  if (node?.__typename !== 'Playbook' || node.deletedAt) {
    return <Empty title="There is no such playbook" text="It may have been deleted." />;
  }
  return <PlaybookForm key={id} playbook={node} />;
}

const placed = ['title', 'macro', 'body', 'structuredOutputSchema'];

function PlaybookForm({ playbook }: { readonly playbook: Playbook | null }) {
  const { organization, may } = useSigned();
  const toasts = useToasts();
  const [, go] = useLocation();
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [create, isCreating] = useAct<playbookPageCreateMutation>(
    graphql`
      mutation playbookPageCreateMutation($input: CreatePlaybookInput!) {
        createPlaybook(input: $input) {
          playbook {
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
  const [update, isUpdating] = useAct<playbookPageUpdateMutation>(
    graphql`
      mutation playbookPageUpdateMutation($input: UpdatePlaybookInput!) {
        updatePlaybook(input: $input) {
          playbook {
            id
            title
            macro
            body
            structuredOutputSchema
            updatedAt
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
  const isOfEnterprise = playbook
    ? playbook.organization === null
    : new URLSearchParams(location.search).get('whose') === 'ENTERPRISE';
  const mayChange = may(isOfEnterprise ? 'MANAGE_ACCOUNT_PLAYBOOKS' : 'MANAGE_ORG_PLAYBOOKS');
  const submit = async (given: Given) => {
    const schema = readJson(given.text('structuredOutputSchema'));
    if (schema.problem) {
      return setErrors([{ message: schema.problem, path: ['structuredOutputSchema'] }]);
    }
    const input = {
      title: given.text('title'),
      macro: given.word('macro'),
      body: given.raw('body'),
      structuredOutputSchema: schema.value,
    };
    const { errors: refused } = playbook
      ? await update({ input: { ...input, playbookId: playbook.playbookId } })
      : await create({ input: { ...input, ...placeOf(isOfEnterprise, organization) } });
    setErrors(refused);
    if (refused !== null) return;
    toasts.say(`${input.title} is saved.`);
    go('/manage/playbooks');
  };
  return (
    <EditorPage
      title={playbook ? playbook.title : isOfEnterprise ? 'New playbook of the enterprise' : 'New playbook'}
      list="/manage/playbooks"
      isBusy={isCreating || isUpdating}
      {...{ mayChange, errors, placed }}
      onSubmit={(given) => void submit(given)}
    >
      <div className="fields">
        <TextField
          label="Title"
          name="title"
          required
          autoFocus={playbook === null}
          defaultValue={playbook?.title}
          error={errorOf(errors, 'title')}
        />
        <TextField
          label="Macro"
          name="macro"
          placeholder="!mend"
          spellCheck={false}
          defaultValue={playbook?.macro ?? ''}
          hint="Written in what is asked of an agent, it takes this playbook along."
          error={errorOf(errors, 'macro')}
        />
      </div>
      <Editor
        label="Instructions"
        name="body"
        defaultValue={playbook?.body ?? ''}
        hint="Markdown"
        error={errorOf(errors, 'body')}
      />
      <TextArea
        label="What its sessions produce"
        name="structuredOutputSchema"
        rows={5}
        spellCheck={false}
        placeholder="A JSON Schema (Draft 7), or nothing"
        defaultValue={
          playbook?.structuredOutputSchema == null ? '' : JSON.stringify(playbook.structuredOutputSchema, null, 2)
        }
        error={errorOf(errors, 'structuredOutputSchema')}
      />
    </EditorPage>
  );
}

function readJson(text: string): { readonly value: unknown; readonly problem: string | null } {
  if (text === '') return { value: null, problem: null };
  try {
    return { value: JSON.parse(text), problem: null };
  } catch (error) {
    return { value: null, problem: `This is no JSON: ${(error as Error).message}` };
  }
}
