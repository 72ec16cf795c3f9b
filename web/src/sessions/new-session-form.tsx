import { type KeyboardEvent, type ReactNode, Suspense, useState } from 'react';
import { graphql, useLazyLoadQuery } from 'react-relay';
import { Link } from 'wouter';
import type { newSessionFormQuery } from '../__generated__/newSessionFormQuery.graphql.ts';
import { useSigned } from '../app/gate.tsx';
import { ModelPicker } from '../pickers/model-picker.tsx';
import { RepositoriesPicker } from '../pickers/repositories-picker.tsx';
import { usePlaybookChoices } from '../pickers/use-playbook-choices.ts';
import { useSnapshotChoices } from '../pickers/use-snapshot-choices.ts';
import { useCurrentErrors } from '../relay/use-current-errors.ts';
import { OptionSelect } from '../session/agent-options.tsx';
import { useCompletion } from '../session/use-completion.tsx';
import { common } from '../texts/common.ts';
import { newSession as texts } from '../texts/sessions.ts';
import { errorOf, Select, TextArea, TextField } from '../ui/field.tsx';
import { Picker } from '../ui/picker.tsx';
import { RichText } from '../ui/rich-text.tsx';
import { Loading } from '../ui/states.tsx';
import { visible } from '../ui/visible.ts';
import { PickFiles, UploadList } from '../uploads/uploads.tsx';
import { takePasted, useFileDrop } from '../uploads/use-file-drop.ts';
import { defaultAgentProblem } from './default-agent.ts';
import { PlaybookValues } from './playbook-values.tsx';
import { type NewSessionDraft, optionPrefix } from './use-new-session.ts';

interface NewSessionFormProps {
  readonly draft: NewSessionDraft;
  /** The playbook to begin with, by its id; null: none. */
  readonly playbookId: string | null;
  /** The prompt to begin with. */
  readonly prompt?: string | undefined;
  /** Called for each change of the prompt. */
  readonly onPrompt?: (prompt: string) => void;
  /** True on the home page: the fields that most sessions need are in one line, and the others behind another. */
  readonly isShort?: boolean;
  /** Buttons at the end of the line of files. */
  readonly children?: ReactNode;
}

/** The form for a new session: in the dialog, and on the home page. */
export function NewSessionForm(props: NewSessionFormProps) {
  const { draft, isShort = false } = props;
  return (
    <form
      id={draft.form}
      className={isShort ? 'form short' : 'form'}
      onSubmit={(event) => void draft.submit(event)}
      onInput={draft.clearErrors}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return;
        event.preventDefault();
        event.currentTarget.requestSubmit();
      }}
    >
      <Suspense fallback={<Loading label={common.loading} rows={3} />}>
        <Fields {...props} />
      </Suspense>
    </form>
  );
}

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

/** Fields of the part that is closed at first on the home page. */
const rareFields = ['title', 'tags', 'snapshotId', 'maxAcuLimit'];

function Fields({ draft, playbookId, prompt, onPrompt, isShort = false, children }: NewSessionFormProps) {
  const { organizationId, uploads, repositories } = draft;
  const errors = useCurrentErrors(draft.errors);
  const isOver = useFileDrop(uploads.add);
  const playbooks = usePlaybookChoices(organizationId);
  const snapshots = useSnapshotChoices(organizationId);
  const { may } = useSigned();
  const seesSnapshots = may('VIEW_ORG_SESSIONS');
  const { agents, organization } = useLazyLoadQuery<newSessionFormQuery>(
    graphql`
      query newSessionFormQuery($id: ID!, $seesTags: Boolean!) {
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
  const isModel = ({
    optionId,
    category,
  }: {
    readonly optionId: string;
    readonly category: string | null | undefined;
  }) => category === 'model' || optionId === 'model';
  const options = chosen?.options ?? [];
  const optionSelect = (option: (typeof options)[number]) => (
    <OptionSelect
      key={`${chosen?.agentId} ${option.optionId}`}
      option={option}
      value={null}
      name={`${optionPrefix}${option.optionId}`}
    />
  );
  const agentHint = problem ? (
    <DefaultAgentWarning problem={problem} agent={organization?.defaultAgent ?? ''} />
  ) : (
    chosen?.keySource === 'NONE' && <NoKey name={chosen.name} />
  );
  const completion = useCompletion({ organizationId, sessionId: null, field: draft.prompt, change: draft.setPrompt });
  const repositoriesPicker = (
    <RepositoriesPicker
      organizationId={organizationId}
      label={common.repositories}
      listName="repositories"
      hasBranches
      value={repositories ?? defaults}
      onChange={draft.setRepositories}
      errors={errors}
      hint={isShort ? '' : repositoriesHint(repositories, defaults.length > 0)}
    />
  );
  const files = (
    <div className="files">
      {isShort ? <PickFiles uploads={uploads} /> : <PickFiles uploads={uploads}>{texts.attachFiles}</PickFiles>}
      <span className="hint">
        {isOver ? (
          texts.dropAnywhere
        ) : (
          <>
            {texts.dropHint} <RichText text={texts.ctrlEnterStarts} slots={{ ctrlEnter: <kbd>Ctrl+Enter</kbd> }} />
          </>
        )}
      </span>
      {children}
    </div>
  );
  const [isOpen, setOpen] = useState(!isShort);
  const hasRareError = errors?.some(({ path }) => path?.some((part) => rareFields.includes(part))) ?? false;
  return (
    <>
      <TextArea
        ref={draft.prompt}
        label={isShort ? texts.task : common.prompt}
        isLabelHidden={isShort}
        placeholder={isShort ? texts.taskPlaceholder : undefined}
        name="prompt"
        rows={isShort ? 4 : 6}
        aria-required={playbook === ''}
        autoFocus
        defaultValue={prompt}
        error={errorOf(errors, 'prompt')}
        onPaste={takePasted(uploads.add)}
        onInput={({ currentTarget }) => onPrompt?.(currentTarget.value)}
        {...completion.attributes}
        onKeyDown={(event: KeyboardEvent) => completion.press(event)}
      />
      {completion.list}
      {playbook && (
        <Suspense fallback={null}>
          <PlaybookValues playbookId={playbook} key={playbook} />
        </Suspense>
      )}
      <UploadList uploads={uploads} />
      {!isShort && files}
      {!isShort && repositoriesPicker}
      <div className={isShort ? 'chips' : 'fields'}>
        {isShort && repositoriesPicker}
        <Select
          label={common.agent}
          name="agent"
          error={errorOf(errors, 'agent')}
          value={agentId}
          onChange={(event) => setAgentId(event.target.value)}
          hint={isShort ? '' : agentHint}
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
        {options.filter(isModel).map(optionSelect)}
        <Picker
          label={common.playbook}
          name="playbookId"
          none={common.none}
          source={playbooks}
          value={playbook}
          onChange={setPlaybook}
          error={errorOf(errors, 'playbookId')}
        />
      </div>
      {isShort && agentHint && <p className="hint">{agentHint}</p>}
      <details
        className="more-fields"
        open={isOpen || hasRareError}
        onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      >
        <summary>{texts.more}</summary>
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
          {options.filter((option) => !isModel(option)).map(optionSelect)}
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
      </details>
      {isShort && files}
      {other.length > 0 && (
        <p className="problem" role="alert">
          {other.map(({ message }) => message).join(' ')}
        </p>
      )}
    </>
  );
}

/** `chosen`: null if the user has chosen none. */
function repositoriesHint(chosen: readonly unknown[] | null, hasDefaults: boolean): string | undefined {
  if (chosen === null) return hasDefaults ? texts.defaultsHint : texts.chooseHint;
  return chosen.length === 0 ? texts.noRepositoryHint : undefined;
}
