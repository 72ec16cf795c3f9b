import { useState } from 'react';
import { fetchQuery, graphql, useLazyLoadQuery, useRelayEnvironment } from 'react-relay';
import type { playbookPageCreateMutation } from '../../__generated__/playbookPageCreateMutation.graphql.ts';
import type { playbookPageQuery, playbookPageQuery$data } from '../../__generated__/playbookPageQuery.graphql.ts';
import type { playbookPageUpdateMutation } from '../../__generated__/playbookPageUpdateMutation.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { NotFound } from '../../layout/not-found.tsx';
import { useMutation } from '../../relay/use-mutation.ts';
import { common } from '../../texts/common.ts';
import { playbookPage as texts } from '../../texts/playbooks.ts';
import { nameOf } from '../../ui/actor.ts';
import { errorOf, TextArea, TextField } from '../../ui/field.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { checkJson, checkMacro } from '../kit/checks.ts';
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

type Playbook = Extract<NonNullable<playbookPageQuery$data['node']>, { readonly __typename: 'Playbook' }>;

/** `/manage/playbooks/:id`: one playbook, for reading and editing; `new` creates one. */
export function PlaybookPage({ id }: { readonly id: string }) {
  return id === 'new' ? <PlaybookForm playbook={null} /> : <LoadedPlaybook id={id} />;
}

const query = graphql`
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
        version
        updatedAt
        updatedBy {
          displayName
        }
        deletedAt
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

const usable = (node: playbookPageQuery$data['node']): Playbook | null =>
  node?.__typename === 'Playbook' && !node.deletedAt ? node : null;

function LoadedPlaybook({ id }: { readonly id: string }) {
  const { node } = useLazyLoadQuery<playbookPageQuery>(query, { id }, { fetchPolicy: 'network-only' });
  // The version at the time of opening: unsaved input survives changes by others.
  const [playbook] = useState(() => usable(node));
  if (!playbook)
    return (
      <NotFound
        title={texts.playbookNotFound}
        text={common.mayBeDeleted}
        path="/manage/playbooks"
        list={common.playbooks}
      />
    );
  return <PlaybookForm playbook={playbook} />;
}

const labels = texts.labels;

const valuesOf = ({ title, macro, body, structuredOutputSchema: schema }: Playbook): Values => ({
  title,
  macro: macro ?? '',
  body,
  structuredOutputSchema: schema == null ? '' : JSON.stringify(schema, null, 2),
});

const fieldNames = Object.keys(labels);
const noValues: Values = { title: '', macro: '', body: '', structuredOutputSchema: '' };

function PlaybookForm({ playbook }: { readonly playbook: Playbook | null }) {
  const { organization, may } = useSigned();
  const toasts = useToasts();
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [create, isCreating] = useMutation<playbookPageCreateMutation>(
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
  const [update, isUpdating] = useMutation<playbookPageUpdateMutation>(
    graphql`
      mutation playbookPageUpdateMutation($input: UpdatePlaybookInput!) {
        updatePlaybook(input: $input) {
          playbook {
            id
            title
            macro
            body
            structuredOutputSchema
            version
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
  const mayCreate = may(isOfEnterprise ? 'MANAGE_ACCOUNT_PLAYBOOKS' : 'MANAGE_ORG_PLAYBOOKS');
  const mayChange = playbook?.viewerCanManage.isAllowed ?? mayCreate;
  const environment = useRelayEnvironment();
  const fetchLatest = async (id: string): Promise<Saved | null> => {
    const found = await fetchQuery<playbookPageQuery>(environment, query, { id }).toPromise();
    const latest = usable(found?.node);
    return (
      latest && {
        values: valuesOf(latest),
        at: latest.updatedAt,
        version: latest.version,
        by: nameOf(latest.updatedBy),
      }
    );
  };
  const submit = async (fields: FormFields, expectedVersion: number | undefined): Promise<SaveResult> => {
    const schema = fields.text('structuredOutputSchema');
    const input = {
      title: fields.text('title'),
      macro: fields.textOrNull('macro'),
      body: fields.raw('body'),
      structuredOutputSchema: schema === '' ? null : (JSON.parse(schema) as unknown),
    };
    const { errors: refused } = playbook
      ? await update({ input: { ...input, playbookId: playbook.playbookId, expectedVersion } })
      : await create({
          input: { ...input, scope: scopeOf(isOfEnterprise ? null : (organization?.organizationId ?? '')) },
        });
    const result = saveResultOf(refused);
    setErrors(result === 'overtaken' ? null : refused);
    if (result === 'saved') toasts.say(common.savedName({ name: input.title }));
    return result;
  };
  const scopeKey = isOfEnterprise ? 'enterprise' : organization?.organizationId;
  return (
    <EditorPage
      title={playbook ? playbook.title : isOfEnterprise ? texts.newEnterprisePlaybook : texts.newPlaybook}
      createLabel={texts.create}
      list="/manage/playbooks"
      draft={`playbook:${playbook?.id ?? `new:${scopeKey}`}`}
      stored={playbook ? valuesOf(playbook) : noValues}
      fetchLatest={playbook && (() => fetchLatest(playbook.id))}
      isBusy={isCreating || isUpdating}
      {...{ labels, mayChange, errors, fieldNames }}
      onSubmit={submit}
    >
      {(values) => (
        <>
          <div className="fields">
            <TextField
              label={labels.title}
              name="title"
              required
              autoFocus={playbook === null}
              defaultValue={values.title}
              error={errorOf(errors, 'title')}
            />
            <TextField
              label={labels.macro}
              name="macro"
              placeholder={texts.macroExample}
              spellCheck={false}
              defaultValue={values.macro}
              hint={texts.macroHint}
              check={checkMacro}
              error={errorOf(errors, 'macro')}
            />
          </div>
          <Editor
            label={labels.body}
            name="body"
            defaultValue={values.body ?? ''}
            hint={texts.bodyHint}
            error={errorOf(errors, 'body')}
          />
          <TextArea
            label={labels.structuredOutputSchema}
            name="structuredOutputSchema"
            rows={5}
            spellCheck={false}
            placeholder={texts.schemaPlaceholder}
            check={checkJson}
            defaultValue={values.structuredOutputSchema}
            error={errorOf(errors, 'structuredOutputSchema')}
          />
        </>
      )}
    </EditorPage>
  );
}
