import { type FormEvent, Suspense, useId, useRef, useState } from 'react';
import { graphql, useLazyLoadQuery } from 'react-relay';
import { Link, useLocation } from 'wouter';
import type { newSessionMutation } from '../__generated__/newSessionMutation.graphql.ts';
import type { newSessionQuery } from '../__generated__/newSessionQuery.graphql.ts';
import { useSigned } from '../app/gate.tsx';
import { addRepository, type ChosenRepository, toInput } from '../pickers/chosen-repository.ts';
import { ModelPicker } from '../pickers/model-picker.tsx';
import { RepositoriesPicker } from '../pickers/repositories-picker.tsx';
import { usePlaybookChoices } from '../pickers/use-playbook-choices.ts';
import { useSnapshotChoices } from '../pickers/use-snapshot-choices.ts';
import { useAttemptKey } from '../relay/use-attempt-key.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { sessionAddress } from '../session/address.ts';
import { OptionSelect } from '../session/agent-options.tsx';
import { common } from '../texts/common.ts';
import { newSession as texts } from '../texts/sessions.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { errorOf, Select, TextArea, TextField } from '../ui/field.tsx';
import { Picker } from '../ui/picker.tsx';
import { RichText } from '../ui/rich-text.tsx';
import { Loading } from '../ui/states.tsx';
import { visible } from '../ui/visible.ts';
import { PickFiles, UploadList } from '../uploads/uploads.tsx';
import { takePasted, useFileDrop } from '../uploads/use-file-drop.ts';
import { type Uploads, useUploads } from '../uploads/use-uploads.ts';
import { defaultAgentProblem } from './default-agent.ts';
import { withValues } from './placeholders.ts';
import { PlaybookValues, playbookTitle, valuePrefix } from './playbook-values.tsx';

interface NewSessionProps {
  readonly organizationId: string;
  /** The repository to begin with; null: the default ones. */
  readonly repository: string | null;
  /** The playbook to begin with, by its id; null: none. */
  readonly playbookId: string | null;
  readonly onClose: () => void;
}

type Errors = readonly { readonly message: string; readonly path?: readonly string[] | null | undefined }[];

/** Starts a session and opens its page. */
export function NewSession({ organizationId, repository, playbookId, onClose }: NewSessionProps) {
  const first = repository === null ? null : addRepository([], repository);
  const form = useId();
  const [, go] = useLocation();
  const [errors, setErrors] = useState<Errors | null>(null);
  const [create, isBusy] = useMutation<newSessionMutation>(
    graphql`
      mutation newSessionMutation($input: CreateSessionInput!) {
        createSession(input: $input) {
          session {
            sessionId
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
  const uploads = useUploads(organizationId);
  // Null: those that the prompt names, or the default ones.
  const [repositories, setRepositories] = useState<readonly ChosenRepository[] | null>(first);
  const keyOf = useAttemptKey();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    // Enter submits a form even if its button is disabled.
    if (isBusy || !uploads.areSent) return;
    const formData = new FormData(event.currentTarget);
    const text = (name: string) => String(formData.get(name) ?? '').trim() || null;
    const tags = text('tags')
      ?.split(',')
      .map((tag) => tag.trim());
    const limit = text('maxAcuLimit');
    const input = {
      organizationId,
      prompt: withValues(text('prompt') ?? '', valuesIn(formData)),
      // Without a prompt, the derived title would be that of the values.
      title: text('title') ?? (text('prompt') === null ? text(playbookTitle) : null),
      agent: text('agent'),
      playbookId: text('playbookId'),
      snapshotId: text('snapshotId'),
      maxAcuLimit: limit === null ? null : Number(limit),
      tags: tags?.filter((tag) => tag !== '') ?? null,
      attachmentIds: uploads.attachmentIds,
      repositories: repositories === null ? null : toInput(repositories),
      options: [...formData].flatMap(([name, value]) =>
        name.startsWith(optionPrefix) && value !== ''
          ? [{ optionId: name.slice(optionPrefix.length), value: String(value) }]
          : [],
      ),
    };
    const { payload, errors: refused } = await create({ input: { ...input, idempotencyKey: keyOf(input) } });
    setErrors(refused);
    // Replaces the dialog in the history, so that Back leads to the list.
    if (payload?.session) go(sessionAddress(payload.session.sessionId), { replace: true });
  };
  return (
    <Dialog
      title={common.newSession}
      size="large"
      onClose={onClose}
      isDirty={uploads.all.length > 0 || JSON.stringify(repositories) !== JSON.stringify(first)}
      actions={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button type="submit" form={form} tone="primary" isBusy={isBusy} disabled={!uploads.areSent}>
            {texts.start}
          </Button>
        </>
      }
    >
      <form
        id={form}
        className="form"
        onSubmit={(event) => void submit(event)}
        onInput={() => setErrors(null)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return;
          event.preventDefault();
          event.currentTarget.requestSubmit();
        }}
      >
        <Suspense fallback={<Loading label={common.loading} rows={3} />}>
          <Fields {...{ organizationId, playbookId, errors, uploads, repositories }} onRepositories={setRepositories} />
        </Suspense>
      </form>
    </Dialog>
  );
}

/** The values of the playbook's placeholders, by their names. */
const valuesIn = (formData: FormData) =>
  [...formData].flatMap(([name, value]) =>
    name.startsWith(valuePrefix) ? [[name.slice(valuePrefix.length), String(value)] as const] : [],
  );

/** Names of the fields for options of the agent begin with this. */
const optionPrefix = 'option:';

const fieldNames = ['prompt', 'title', 'tags', 'agent', 'playbookId', 'snapshotId', 'maxAcuLimit', 'repositories'];

interface OfferedAgent {
  readonly providers: readonly string[];
  readonly keySource: string | null | undefined;
  readonly options:
    | readonly { readonly optionId: string; readonly category: string | null | undefined }[]
    | null
    | undefined;
}

/** Returns true if the agent has a model behind a key, but has not offered its models yet. */
function asksForModel({ providers, keySource, options }: OfferedAgent): boolean {
  if (providers.length === 0 || keySource === 'NONE') return false;
  return !options?.some(({ optionId, category }) => category === 'model' || optionId === 'model');
}

/** Says that sessions of an agent have no key, and where to add one. */
function NoKey({ name }: { readonly name: string }) {
  const { may } = useSigned();
  const isManager = may('MANAGE_ORG_SECRETS') || may('MANAGE_ENTERPRISE_SETTINGS');
  return (
    <RichText
      text={texts.noKey}
      slots={{
        name,
        link: (text) => <Link href={isManager ? '/manage/model-keys' : '/manage/my-model-keys'}>{text}</Link>,
      }}
    />
  );
}

interface DefaultAgentWarningProps {
  readonly problem: 'MISSING' | 'DEMO';
  readonly agent: string;
}

/** Warns of the agent that a session gets which names none, and leads to the page of agents. */
function DefaultAgentWarning({ problem, agent }: DefaultAgentWarningProps) {
  const isManager = useSigned().may('MANAGE_ENTERPRISE_SETTINGS');
  return (
    <span>
      {problem === 'MISSING' ? texts.agentMissing({ agent: visible(agent) }) : texts.demoAgent}{' '}
      {isManager ? <Link href="/manage/agents">{texts.installAgent}</Link> : texts.askAdministrator}
    </span>
  );
}

interface FieldsProps {
  readonly organizationId: string;
  readonly playbookId: string | null;
  readonly errors: Errors | null;
  readonly uploads: Uploads;
  /** Null: the user has chosen none. */
  readonly repositories: readonly ChosenRepository[] | null;
  readonly onRepositories: (repositories: readonly ChosenRepository[]) => void;
}

function Fields({ organizationId, playbookId, errors, uploads, repositories, onRepositories }: FieldsProps) {
  const isOver = useFileDrop(uploads.add);
  const playbooks = usePlaybookChoices(organizationId);
  const snapshots = useSnapshotChoices(organizationId);
  const { may } = useSigned();
  const seesSnapshots = may('VIEW_ORG_SESSIONS');
  const { agents, organization } = useLazyLoadQuery<newSessionQuery>(
    graphql`
      query newSessionQuery($id: ID!, $seesTags: Boolean!) {
        agents {
          agentId
          name
          isDefault
          providers
          keySource(organizationId: $id)
          options(organizationId: $id) {
            optionId
            category
            ...agentOptions_option
          }
        }
        organization(id: $id) {
          defaultAgent
          defaultModels {
            agentId
            model
          }
          defaultRepositories
          allowedTags @include(if: $seesTags)
        }
      }
    `,
    { id: organizationId, seesTags: may('MANAGE_ENTERPRISE_SETTINGS') },
    { fetchPolicy: 'store-and-network' },
  );
  const prompt = useRef<HTMLTextAreaElement>(null);
  const [agentId, setAgentId] = useState('');
  const [playbook, setPlaybook] = useState(playbookId ?? '');
  const allowed = organization?.allowedTags ?? [];
  const standard = agents.find(({ agentId, isDefault }) =>
    organization?.defaultAgent ? agentId === organization.defaultAgent : isDefault,
  );
  const chosen = agentId === '' ? standard : agents.find((agent) => agent.agentId === agentId);
  const problem = agentId === '' ? defaultAgentProblem(agents, organization?.defaultAgent ?? null) : null;
  const standardModel = organization?.defaultModels.find((each) => each.agentId === chosen?.agentId)?.model;
  const defaults = (organization?.defaultRepositories ?? []).map((repository) => ({ repository, ref: '', branch: '' }));
  const other = errors?.filter(({ path }) => !path?.some((part) => fieldNames.includes(part))) ?? [];
  return (
    <>
      <TextArea
        ref={prompt}
        label={common.prompt}
        name="prompt"
        rows={6}
        required={playbook === ''}
        autoFocus
        error={errorOf(errors, 'prompt')}
        onPaste={takePasted(uploads.add)}
      />
      {playbook && (
        <Suspense fallback={null}>
          <PlaybookValues playbookId={playbook} key={playbook} />
        </Suspense>
      )}
      <div className="files">
        <PickFiles uploads={uploads}>{texts.attachFiles}</PickFiles>
        <span className="hint">{isOver ? texts.dropAnywhere : texts.dropHint}</span>
        <UploadList uploads={uploads} />
      </div>
      <RepositoriesPicker
        organizationId={organizationId}
        label={common.repositories}
        listName="repositories"
        hasBranches
        value={repositories ?? defaults}
        onChange={onRepositories}
        errors={errors}
        hint={
          repositories === null
            ? defaults.length > 0
              ? texts.defaultsHint
              : texts.chooseHint
            : repositories.length === 0
              ? texts.noRepositoryHint
              : undefined
        }
      />
      <div className="fields">
        <TextField
          label={common.title}
          name="title"
          placeholder={common.titleFromPrompt}
          error={errorOf(errors, 'title')}
        />
        <TextField
          label={common.tags}
          name="tags"
          placeholder={texts.tagsPlaceholder}
          hint={allowed.length > 0 && texts.allowedTags({ tags: visible(allowed.join(', ')) })}
          error={errorOf(errors, 'tags')}
        />
        <Select
          label={common.agent}
          name="agent"
          error={errorOf(errors, 'agent')}
          value={agentId}
          onChange={(event) => setAgentId(event.target.value)}
          hint={
            problem ? (
              <DefaultAgentWarning problem={problem} agent={organization?.defaultAgent ?? ''} />
            ) : (
              chosen?.keySource === 'NONE' && <NoKey name={chosen.name} />
            )
          }
        >
          <option value="">{standard ? common.defaultName({ name: standard.name }) : common.default}</option>
          {agents
            .filter((agent) => agent !== standard)
            .map((agent) => (
              <option value={agent.agentId} key={agent.agentId}>
                {agent.name}
              </option>
            ))}
        </Select>
        {chosen && asksForModel(chosen) && (
          <ModelPicker
            key={chosen.agentId}
            label={common.model}
            name={`${optionPrefix}model`}
            agentId={chosen.agentId}
            organizationId={organizationId}
            none={standardModel === undefined ? common.default : common.defaultName({ name: standardModel })}
          />
        )}
        {(chosen?.options ?? []).map((option) => (
          <OptionSelect
            key={`${chosen?.agentId} ${option.optionId}`}
            option={option}
            value={null}
            name={`${optionPrefix}${option.optionId}`}
          />
        ))}
        <Picker
          label={common.playbook}
          name="playbookId"
          none={common.none}
          source={playbooks}
          value={playbook}
          onChange={setPlaybook}
          error={errorOf(errors, 'playbookId')}
        />
        {seesSnapshots && (
          <Picker
            label={common.snapshot}
            name="snapshotId"
            none={common.none}
            emptyText={texts.noSnapshots}
            source={snapshots}
            error={errorOf(errors, 'snapshotId')}
          />
        )}
        <TextField
          label={common.acuLimit}
          name="maxAcuLimit"
          type="number"
          min={1}
          step={1}
          placeholder={common.noLimit}
          error={errorOf(errors, 'maxAcuLimit')}
        />
      </div>
      {other.length > 0 && (
        <p className="problem" role="alert">
          {other.map(({ message }) => message).join(' ')}
        </p>
      )}
    </>
  );
}
