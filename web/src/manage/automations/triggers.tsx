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
      <legend>Triggers</legend>
      {triggers.length === 0 && (
        <p className="soft">Without a trigger, the automation runs only when somebody starts it.</p>
      )}
      {triggers.map((draft, n) => (
        <fieldset className="part" key={draft.key}>
          <legend className={triggers.length > 1 ? undefined : 'for-readers'}>Trigger {n + 1}</legend>
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
              {triggers.length > 1 ? `Remove trigger ${n + 1}` : 'Remove trigger'}
            </Button>
          </div>
        </fieldset>
      ))}
      {beside && <Problem text={beside} />}
      {triggers.length < maxTriggers && (
        <div className="actions">
          <Button size="small" icon="plus" onClick={() => onChange([...triggers, newTrigger()], true)}>
            Add trigger
          </Button>
        </div>
      )}
    </fieldset>
  );
}
