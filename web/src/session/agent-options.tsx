import { graphql, useFragment } from 'react-relay';
import type { agentOptions_option$key } from '../__generated__/agentOptions_option.graphql.ts';
import { common } from '../texts/common.ts';
import { agentOptions as texts } from '../texts/session-options.ts';
import { Select } from '../ui/field.tsx';
import { visible } from '../ui/visible.ts';
import { optionLabel, optionTitle, switchLabels } from './option-label.ts';

interface OptionSelectProps {
  readonly option: agentOptions_option$key;
  /** The chosen value; null for the default. */
  readonly value: string | null;
  /** Name as a field of its form. */
  readonly name?: string;
  readonly isDisabled?: boolean;
  /** True if the agent has not accepted the value yet. */
  readonly isPending?: boolean;
  /** Missing: the field keeps its own state, and may be empty for the default. */
  readonly onChange?: (value: string) => void;
}

/** A field for an option of an agent, such as its model. */
export function OptionSelect({ option: reference, value, name, isDisabled, isPending, onChange }: OptionSelectProps) {
  const option = useFragment(
    graphql`
      fragment agentOptions_option on AgentOption {
        optionId
        name
        description
        currentValue
        isLocked
        values {
          value
          name
        }
      }
    `,
    reference,
  );
  const { currentValue, isLocked, values } = option;
  const labelOf = (wanted: string) => visible(optionLabel(wanted, values));
  const known = new Set(values.map((each) => each.value));
  const all = values.length === 0 && switchLabels.has(currentValue) ? [...switchLabels.keys()] : [...known];
  const shown = value !== null && !all.includes(value) ? [value, ...all] : all;
  const hint = isLocked ? texts.isConfigured : isPending ? texts.appliesNext : option.description;
  return (
    <Select
      label={visible(optionTitle(option.name))}
      hint={hint === null || hint === undefined ? undefined : visible(hint)}
      disabled={isDisabled || isLocked}
      {...(name !== undefined && { name })}
      {...(onChange && { value: value ?? currentValue, onChange: (event) => onChange(event.target.value) })}
    >
      {onChange === undefined && <option value="">{common.defaultName({ name: labelOf(currentValue) })}</option>}
      {shown
        .filter((each) => onChange !== undefined || each !== currentValue)
        .map((each) => (
          <option key={each} value={each}>
            {labelOf(each)}
          </option>
        ))}
    </Select>
  );
}
