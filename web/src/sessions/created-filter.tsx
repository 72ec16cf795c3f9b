import { common } from '../texts/common.ts';
import { createdFilter as texts } from '../texts/sessions.ts';
import { Select, TextField } from '../ui/field.tsx';
import { daysProblem, lastDays } from '../usage/days.ts';
import { createdPeriods, type Filters } from './filters.ts';

interface CreatedFilterProps {
  readonly filters: Filters;
  /** True if the filters that are not set are shown too. */
  readonly isOpen: boolean;
  readonly onChange: (changes: Partial<Filters>) => void;
}

const isRangeOf = ({ from, to }: Filters): boolean => from !== '' || to !== '';

/** The filter for the time when sessions were created: a period up to now, or a range of days, which {@link CreatedRange} shows. */
export function CreatedFilter({ filters, isOpen, onChange }: CreatedFilterProps) {
  const { created } = filters;
  const isRange = isRangeOf(filters);
  const choose = (choice: string) =>
    onChange(choice === 'range' ? { created: '', ...lastDays(7) } : { created: choice, from: '', to: '' });
  return (
    <div className="filter" hidden={!isOpen && created === '' && !isRange}>
      <Select
        label={common.created}
        isLabelHidden
        value={isRange ? 'range' : created}
        onChange={({ target }) => choose(target.value)}
      >
        <option value="">{texts.anyTime}</option>
        {Object.entries(createdPeriods).map(([value, { label }]) => (
          <option value={value} key={value}>
            {label}
          </option>
        ))}
        <option value="range">{texts.range}</option>
      </Select>
    </div>
  );
}

/** The days of {@link CreatedFilter}, in a line of their own: they alone have labels above them. */
export function CreatedRange({ filters, onChange }: Omit<CreatedFilterProps, 'isOpen'>) {
  const { from, to } = filters;
  if (!isRangeOf(filters)) return null;
  return (
    <div className="filter range">
      <TextField
        label={texts.from}
        type="date"
        value={from}
        onChange={({ target }) => onChange({ from: target.value })}
      />
      <TextField
        label={texts.to}
        type="date"
        value={to}
        error={from && to && from > to ? daysProblem(from, to) : null}
        onChange={({ target }) => onChange({ to: target.value })}
      />
    </div>
  );
}
