import type { automationFormQuery$data } from '../../__generated__/automationFormQuery.graphql.ts';
import { Button } from '../../ui/button.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { eventLabel, operatorLabel } from './labels.ts';
import { RuleFields } from './rule-fields.tsx';
import { type ConditionDraft, recurring, type TriggerDraft } from './trigger.ts';

interface TriggerFieldsProps {
  readonly draft: TriggerDraft;
  readonly schemas: automationFormQuery$data['automationSchemas'];
  /** What the service found wrong with the conditions. */
  readonly error: string | null;
  readonly onChange: (draft: TriggerDraft) => void;
}

/** Asks what an automation waits for: times, or an event with conditions. */
export function TriggerFields({ draft, schemas, error, onChange }: TriggerFieldsProps) {
  const isRecurring = draft.eventType === recurring;
  const shown = schemas.eventTypes.filter(
    ({ name, hasSource }) => (hasSource && name !== 'manual') || name === draft.eventType,
  );
  const event = schemas.eventTypes.find(({ name }) => name === draft.eventType);
  return (
    <>
      <Select
        label="It acts"
        value={draft.eventType}
        hint={isRecurring ? null : event?.description}
        onChange={({ target }) => onChange({ ...draft, eventType: target.value, conditions: [] })}
      >
        <option value={recurring}>At times</option>
        {shown
          .filter(({ name }) => name !== recurring)
          .map(({ name }) => (
            <option value={name} key={name}>
              {eventLabel(name)}
            </option>
          ))}
      </Select>
      {isRecurring ? (
        <RuleFields
          fields={draft.rule}
          timeZone={draft.timeZone}
          error={error}
          onChange={(rule) => onChange({ ...draft, rule })}
          onTimeZone={(timeZone) => onChange({ ...draft, timeZone })}
        />
      ) : (
        <Conditions
          conditions={draft.conditions}
          fields={event?.fields ?? []}
          operators={schemas.operators}
          error={error}
          onChange={(conditions) => onChange({ ...draft, conditions })}
        />
      )}
    </>
  );
}

interface ConditionsProps {
  readonly conditions: readonly ConditionDraft[];
  readonly fields: automationFormQuery$data['automationSchemas']['eventTypes'][number]['fields'];
  readonly operators: automationFormQuery$data['automationSchemas']['operators'];
  readonly error: string | null;
  readonly onChange: (conditions: readonly ConditionDraft[]) => void;
}

function Conditions({ conditions, fields, operators, error, onChange }: ConditionsProps) {
  const set = (index: number, change: Partial<ConditionDraft>) =>
    onChange(conditions.map((each, at) => (at === index ? { ...each, ...change } : each)));
  const names = operators.map(({ name }) => name).filter((name) => name !== 'recurrence');
  return (
    <>
      <datalist id="event-fields">
        {fields.map(({ name, description }) => (
          <option value={name} key={name}>
            {description}
          </option>
        ))}
      </datalist>
      {conditions.length === 0 && <p className="soft">It acts on every one of them.</p>}
      {conditions.map((condition, index) => {
        const allowed = fields.find(({ name }) => name === condition.field)?.operators ?? names;
        const operand = operators.find(({ name }) => name === condition.operator)?.operand;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: conditions have no names, and none moves.
          <div className="condition" key={index}>
            <TextField
              label="Field"
              list="event-fields"
              required
              spellCheck={false}
              value={condition.field}
              onChange={({ target }) => set(index, { field: target.value })}
            />
            <Select
              label="How"
              value={condition.operator}
              onChange={({ target }) => set(index, { operator: target.value })}
            >
              {[...new Set([condition.operator, ...allowed])].map((name) => (
                <option value={name} key={name}>
                  {operatorLabel(name)}
                </option>
              ))}
            </Select>
            <TextField
              label="Value"
              placeholder={operand}
              value={condition.value}
              onChange={({ target }) => set(index, { value: target.value })}
            />
            <Button
              tone="quiet"
              icon="close"
              aria-label={`Leave out condition ${index + 1}`}
              onClick={() => onChange(conditions.filter((_, at) => at !== index))}
            />
          </div>
        );
      })}
      {error && (
        <p className="problem" role="alert">
          {error}
        </p>
      )}
      <div className="actions">
        <Button
          size="small"
          icon="plus"
          onClick={() =>
            onChange([
              ...conditions,
              { field: fields[0]?.name ?? '', operator: fields[0]?.operators[0] ?? names[0] ?? '', value: '' },
            ])
          }
        >
          Add a condition
        </Button>
      </div>
    </>
  );
}
