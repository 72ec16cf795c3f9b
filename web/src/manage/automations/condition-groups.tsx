import { Fragment, useId } from 'react';
import { conditionGroups as texts } from '../../texts/automation-form.ts';
import { Button } from '../../ui/button.tsx';
import { newCondition } from './condition.ts';
import { ConditionRow } from './condition-row.tsx';
import { Problem } from './problem.tsx';
import { type Problems, problemBeside, problemsIn } from './problems.ts';
import type { EventSchema, Schemas } from './schemas.ts';
import { type GroupDraft, newKey } from './trigger.ts';

interface ConditionGroupsProps {
  readonly groups: readonly GroupDraft[];
  readonly event: EventSchema | undefined;
  readonly schemas: Schemas;
  /** Problems with paths below `conditions`. */
  readonly problems: Problems;
  readonly onChange: (groups: readonly GroupDraft[], isOther: boolean) => void;
}

/**
 * The conditions of an event trigger: groups of conditions, any of which suffices; a group requires all of its
 * conditions.
 */
export function ConditionGroups({ groups, event, schemas, problems, onChange }: ConditionGroupsProps) {
  const listId = useId();
  const fields = event?.fields ?? [];
  const fresh = () => newCondition(fields[0]?.name ?? '', fields[0]?.operators[0] ?? 'EQ');
  const setAll = (index: number, all: GroupDraft['all'], isOther: boolean) =>
    onChange(
      groups.flatMap((group, at) => (at === index ? (all.length > 0 ? [{ ...group, all }] : []) : [group])),
      isOther,
    );
  const beside = problemBeside(problems, 'any') ?? problemBeside(problemsIn(problems, 'any'), ...indexes(groups));
  return (
    <>
      <datalist id={listId}>
        {fields.map(({ name, description }) => (
          <option value={name} key={name}>
            {description}
          </option>
        ))}
      </datalist>
      {groups.length === 0 && <p className="soft">{texts.everyEvent}</p>}
      {groups.map(({ key, all }, n) => {
        const wrong = problemsIn(problems, 'any', n);
        const problem = problemBeside(wrong, 'all') ?? problemBeside(problemsIn(wrong, 'all'), ...indexes(all));
        return (
          <Fragment key={key}>
            {n > 0 && <p className="or">{texts.or}</p>}
            <fieldset className="condition-group">
              <legend className={groups.length > 1 ? undefined : 'for-readers'}>{texts.matchAll}</legend>
              {all.map((condition, m) => (
                <ConditionRow
                  key={condition.key}
                  condition={condition}
                  index={m}
                  listId={listId}
                  event={event}
                  schemas={schemas}
                  problems={problemsIn(wrong, 'all', m)}
                  onChange={(changed) =>
                    setAll(
                      n,
                      all.map((each) => (each.key === condition.key ? changed : each)),
                      false,
                    )
                  }
                  onRemove={() =>
                    setAll(
                      n,
                      all.filter(({ key: other }) => other !== condition.key),
                      true,
                    )
                  }
                />
              ))}
              {problem && <Problem text={problem} />}
              <div className="actions">
                <Button size="small" icon="plus" onClick={() => setAll(n, [...all, fresh()], true)}>
                  {texts.addCondition}
                </Button>
              </div>
            </fieldset>
          </Fragment>
        );
      })}
      {beside && <Problem text={beside} />}
      <div className="actions">
        <Button size="small" icon="plus" onClick={() => onChange([...groups, { key: newKey(), all: [fresh()] }], true)}>
          {groups.length === 0 ? texts.addCondition : texts.addAlternative}
        </Button>
      </div>
    </>
  );
}

const indexes = (list: readonly unknown[]) => list.map((_, n) => String(n));
