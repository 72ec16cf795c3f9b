import { triggers as texts } from '../../texts/automation-form.ts';
import { Button } from '../../ui/button.tsx';
import { Problem } from './problem.tsx';
import { type Problems, problemBeside, problemsIn } from './problems.ts';
import type { Schemas } from './schemas.ts';
import { incoming, newTrigger, type TriggerDraft } from './trigger.ts';
import { TriggerFields } from './trigger-fields.tsx';

/** The service's maximum number of triggers. */
const maxTriggers = 20;

interface TriggersProps {
  readonly triggers: readonly TriggerDraft[];
  readonly schemas: Schemas;
  readonly problems: Problems;
  readonly onChange: (triggers: readonly TriggerDraft[], isOther: boolean) => void;
}

/** The list of an automation's triggers, any of which suffices. */
export function Triggers({ triggers, schemas, problems, onChange }: TriggersProps) {
  const beside = problemBeside(problems, ...triggers.map((_, n) => String(n)));
  const mayBeIncoming = !triggers.some(({ eventType }) => eventType === incoming);
  return (
    <fieldset className="group-box">
      <legend>{texts.triggers}</legend>
      {triggers.length === 0 && <p className="soft">{texts.noTriggerHint}</p>}
      {triggers.map((draft, n) => (
        <fieldset className="part" key={draft.key}>
          <legend className={triggers.length > 1 ? undefined : 'for-readers'}>{texts.legend({ n: n + 1 })}</legend>
          <TriggerFields
            draft={draft}
            schemas={schemas}
            mayBeIncoming={mayBeIncoming}
            problems={problemsIn(problems, n)}
            onChange={(changed, isOther) =>
              onChange(
                triggers.map((each) => (each.key === draft.key ? changed : each)),
                isOther,
              )
            }
          />
          <div className="actions">
            <Button
              size="small"
              tone="quiet"
              icon="close"
              onClick={() =>
                onChange(
                  triggers.filter(({ key }) => key !== draft.key),
                  true,
                )
              }
            >
              {triggers.length > 1 ? texts.removeNumber({ n: n + 1 }) : texts.remove}
            </Button>
          </div>
        </fieldset>
      ))}
      {beside && <Problem text={beside} />}
      {triggers.length < maxTriggers && (
        <div className="actions">
          <Button size="small" icon="plus" onClick={() => onChange([...triggers, newTrigger()], true)}>
            {texts.add}
          </Button>
        </div>
      )}
    </fieldset>
  );
}
