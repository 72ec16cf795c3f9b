import { conditionRow as texts } from '../../texts/automation-form.ts';
import { common } from '../../texts/common.ts';
import { Button } from '../../ui/button.tsx';
import { Select, TextArea, TextField } from '../../ui/field.tsx';
import { type ConditionDraft, type ValueKind, valueKind } from './condition.ts';
import { operatorLabel } from './labels.ts';
import { Problem } from './problem.tsx';
import { type Problems, problemBeside, problemOf } from './problems.ts';
import { type EventSchema, findField, type Schemas } from './schemas.ts';

interface ConditionRowProps {
  readonly condition: ConditionDraft;
  /** Its index in its group. */
  readonly index: number;
  /** The id of the datalist with the names of the fields. */
  readonly listId: string;
  readonly event: EventSchema | undefined;
  readonly schemas: Schemas;
  readonly problems: Problems;
  readonly onChange: (condition: ConditionDraft) => void;
  readonly onRemove: () => void;
}

/** The fields of one condition: field, operator and value. */
export function ConditionRow(props: ConditionRowProps) {
  const { condition, index, listId, event, schemas, problems, onChange, onRemove } = props;
  const { field, operator, text } = condition;
  const fieldSchema = findField(event, field);
  const all = schemas.operators.map(({ name }) => name).filter((name) => name !== 'RECURRENCE');
  const kind = valueKind(operator, fieldSchema?.type ?? null);
  const operand = schemas.operators.find(({ name }) => name === operator)?.operand ?? null;
  const fieldProps = {
    label: common.value,
    value: text,
    spellCheck: false,
    error: problemOf(problems, 'value'),
  };
  const set = (change: Partial<ConditionDraft>) => onChange({ ...condition, ...change });
  const beside = problemBeside(problems, 'field', 'operator', 'value');
  return (
    <div className="condition">
      <TextField
        label={texts.field}
        list={listId}
        required
        spellCheck={false}
        value={field}
        error={problemOf(problems, 'field')}
        onChange={({ target }) => set({ field: target.value })}
      />
      <Select
        label={texts.operator}
        value={operator}
        error={problemOf(problems, 'operator')}
        onChange={({ target }) => set({ operator: target.value })}
      >
        {[...new Set([operator, ...(fieldSchema?.operators ?? all)])].map((name) => (
          <option value={name} key={name}>
            {operatorLabel(name)}
          </option>
        ))}
      </Select>
      {kind === 'lines' ? (
        <TextArea
          {...fieldProps}
          rows={Math.min(8, Math.max(2, text.split('\n').length))}
          hint={texts.onePerLine}
          onChange={({ target }) => set({ text: target.value })}
        />
      ) : kind === 'nothing' ? (
        <span />
      ) : (
        <TextField
          {...fieldProps}
          inputMode={kind === 'number' ? 'decimal' : 'text'}
          hint={hintOf(kind, operator, operand)}
          onChange={({ target }) => set({ text: target.value })}
        />
      )}
      <Button tone="quiet" icon="close" aria-label={texts.remove({ index: index + 1 })} onClick={onRemove} />
      {beside && <Problem text={beside} />}
    </div>
  );
}

const hints: Readonly<Partial<Record<ValueKind, string>>> = {
  plain: texts.plainHint,
  range: texts.rangeHint,
};

// Texts and numbers need no hint, except for patterns.
function hintOf(kind: ValueKind, operator: string, operand: string | null): string | null {
  const needsNoHint = (kind === 'text' && !operator.endsWith('MATCHES')) || kind === 'number';
  return needsNoHint ? null : (hints[kind] ?? operand);
}
