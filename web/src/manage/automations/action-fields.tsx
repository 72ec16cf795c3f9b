import { useState } from 'react';
import { useSigned } from '../../app/gate.tsx';
import type { ChosenRepository } from '../../pickers/chosen-repository.ts';
import { RepositoriesPicker } from '../../pickers/repositories-picker.tsx';
import { actionFields as texts } from '../../texts/automation-form.ts';
import { common } from '../../texts/common.ts';
import { Select, TextArea, TextField } from '../../ui/field.tsx';
import { type Action, type ActionDraft, splitList } from './action.ts';
import { FieldGroup } from './field-group.tsx';
import { actionLabel } from './labels.ts';
import { MoreJson } from './more-json.tsx';
import { PlaybookSelect } from './playbook-select.tsx';
import { Problem } from './problem.tsx';
import { type Problems, problemBeside, problemOf, problemsIn } from './problems.ts';
import { TargetField } from './target-field.tsx';

interface ActionFieldsProps {
  readonly draft: ActionDraft;
  /** False if another action already starts a session: only one may. */
  readonly mayStart: boolean;
  readonly problems: Problems;
  readonly onChange: (draft: ActionDraft) => void;
}

/** The fields of one action: its kind, and the options of that kind. */
export function ActionFields({ draft, mayStart, problems, onChange }: ActionFieldsProps) {
  const { type, prompt } = draft;
  const set = (change: Partial<ActionDraft>) => onChange({ ...draft, ...change });
  const types: readonly Action['type'][] = [
    ...(mayStart ? (['start_session'] as const) : []),
    'message_session',
    ...(type === 'monitor_session' ? (['monitor_session'] as const) : []),
  ];
  const beside = problemBeside(problems, ...fieldNames[type]);
  return (
    <>
      <Select
        label={common.type}
        value={type}
        error={problemOf(problems, 'type')}
        onChange={({ target }) => set({ type: target.value as Action['type'] })}
      >
        {types.map((each) => (
          <option value={each} key={each}>
            {actionLabel(each)}
          </option>
        ))}
      </Select>
      {type === 'message_session' && <TargetField draft={draft} problems={problems} onChange={onChange} />}
      <TextArea
        label={common.prompt}
        rows={6}
        required
        value={prompt}
        error={problemOf(problems, type === 'monitor_session' ? 'setupPrompt' : 'prompt')}
        onChange={({ target }) => set({ prompt: target.value })}
      />
      {type === 'start_session' && <StartFields draft={draft} problems={problems} onChange={onChange} />}
      {type === 'monitor_session' && (
        <MoreJson
          title={texts.channelConfiguration}
          hint={texts.channelConfigurationHint}
          value={draft.more}
          error={problemOf(problems, 'more') ?? problemOf(problems, 'slackMonitorConfig')}
          onChange={(more) => set({ more })}
        />
      )}
      {beside && <Problem text={beside} />}
    </>
  );
}

const fieldNames = {
  'start_session': ['type', 'prompt', 'session', 'more'],
  'message_session': ['type', 'prompt', 'targetSessionId', 'autoCreate'],
  'monitor_session': ['type', 'setupPrompt', 'slackMonitorConfig', 'more'],
} as const satisfies Record<Action['type'], readonly string[]>;

interface PartProps {
  readonly draft: ActionDraft;
  readonly problems: Problems;
  readonly onChange: (draft: ActionDraft) => void;
}

/** The repositories of a draft, each once. */
const chosenIn = (repos: string): readonly ChosenRepository[] =>
  [...new Set(splitList(repos))].map((repository) => ({ repository, ref: '', branch: '' }));

function StartFields({ draft, problems, onChange }: PartProps) {
  const { organization } = useSigned();
  const [hasMore] = useState(draft.more.trim() !== '');
  const set = (change: Partial<ActionDraft>) => onChange({ ...draft, ...change });
  const session = problemsIn(problems, 'session');
  const moreProblem = problemOf(problems, 'more') ?? problemBeside(session, 'playbookId', 'tags', 'repos');
  const summary = [
    draft.playbookId !== '' && common.playbook,
    draft.tags.trim() !== '' && texts.tagsSummary({ tags: draft.tags.trim() }),
    draft.more.trim() !== '' && texts.otherOptions,
  ];
  const isWrong = ['playbookId', 'tags'].some((name) => problemOf(session, name) !== null);
  return (
    <>
      <RepositoriesPicker
        organizationId={organization?.organizationId ?? ''}
        label={common.repositories}
        listName="repos"
        value={chosenIn(draft.repos)}
        errors={session}
        onChange={(chosen) => set({ repos: chosen.map(({ repository }) => repository).join(', ') })}
      />
      <FieldGroup
        title={texts.sessionOptions}
        summary={summary.filter((part) => part !== false).join(' · ') || common.none}
        hasProblem={isWrong || moreProblem !== null}
      >
        <div className="fields">
          <PlaybookSelect
            value={draft.playbookId}
            error={problemOf(session, 'playbookId')}
            onChange={(playbookId) => set({ playbookId })}
          />
          <TextField
            label={common.tags}
            placeholder={texts.tagsPlaceholder}
            value={draft.tags}
            error={problemOf(session, 'tags')}
            onChange={({ target }) => set({ tags: target.value })}
          />
        </div>
        {hasMore && (
          <MoreJson
            title={texts.otherOptions}
            hint={texts.otherOptionsHint}
            value={draft.more}
            error={moreProblem}
            onChange={(more) => set({ more })}
          />
        )}
        {!hasMore && moreProblem && <Problem text={moreProblem} />}
      </FieldGroup>
    </>
  );
}
