import { Link } from 'wouter';
import { triggerFields as texts } from '../../texts/automation-form.ts';
import { common } from '../../texts/common.ts';
import { Select } from '../../ui/field.tsx';
import { RichText } from '../../ui/rich-text.tsx';
import { ConditionGroups } from './condition-groups.tsx';
import { eventGroups, eventLabel } from './labels.ts';
import { Problem } from './problem.tsx';
import { type Problems, problemBeside, problemOf, problemsIn } from './problems.ts';
import { RuleFields } from './rule-fields.tsx';
import { findEvent, type Schemas } from './schemas.ts';
import { incoming, recurring, type TriggerDraft } from './trigger.ts';

interface TriggerFieldsProps {
  readonly draft: TriggerDraft;
  readonly schemas: Schemas;
  readonly problems: Problems;
  /** False if another trigger is already an incoming webhook: there can be only one. */
  readonly mayBeIncoming: boolean;
  /** `isOther`: a part was added or removed, so the service's errors refer to other parts. */
  readonly onChange: (draft: TriggerDraft, isOther: boolean) => void;
}

/** The fields of a trigger: a schedule, or an event with conditions. */
export function TriggerFields({ draft, schemas, problems, mayBeIncoming, onChange }: TriggerFieldsProps) {
  const { eventType, groups, replies } = draft;
  const isRecurring = eventType === recurring;
  const event = findEvent(schemas, eventType);
  const offered = schemas.eventTypes.flatMap(({ name, hasSource }) =>
    hasSource && name !== recurring && (name !== incoming || mayBeIncoming || eventType === incoming) ? [name] : [],
  );
  const beside = problemBeside(problems, 'eventType', 'conditions', 'timeZone');
  const choose = (chosen: string) => {
    const isAlike = eventType.startsWith('session:') && chosen.startsWith('session:');
    onChange({ ...draft, eventType: chosen, groups: isAlike ? groups : [] }, true);
  };
  return (
    <>
      <Select
        label={common.trigger}
        value={eventType}
        hint={isRecurring ? null : event?.description}
        error={problemOf(problems, 'eventType')}
        onChange={({ target }) => choose(target.value)}
      >
        {eventGroups([recurring, ...offered, eventType]).map(({ label, names }) => (
          <optgroup label={label} key={label}>
            {names.map((name) => (
              <option value={name} key={name}>
                {eventLabel(name)}
              </option>
            ))}
          </optgroup>
        ))}
      </Select>
      {/^(?:github|gitlab|gitea):/.test(eventType) && (
        <p className="hint">
          <RichText text={texts.webhooksNeeded} slots={{ link: (text) => <Link href="/manage/git">{text}</Link> }} />
        </p>
      )}
      {isRecurring ? (
        <RuleFields
          fields={draft.rule}
          timeZone={draft.timeZone}
          error={problemOf(problems, 'conditions')}
          zoneError={problemOf(problems, 'timeZone')}
          onChange={(rule) => onChange({ ...draft, rule }, false)}
          onTimeZone={(timeZone) => onChange({ ...draft, timeZone }, false)}
        />
      ) : (
        <ConditionGroups
          groups={groups}
          event={event}
          schemas={schemas}
          problems={problemsIn(problems, 'conditions')}
          onChange={(changed, isOther) => onChange({ ...draft, groups: changed }, isOther)}
        />
      )}
      {replies.length > 0 && (
        <p className="hint">
          <RichText text={texts.notEditable} slots={{ value: <code>{JSON.stringify({ replies })}</code> }} />
        </p>
      )}
      {beside && <Problem text={beside} />}
    </>
  );
}
