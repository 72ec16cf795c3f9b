import { type ReactNode, Suspense, useEffect, useId, useRef, useState } from 'react';
import { useSigned } from '../app/gate.tsx';
import { useMemberChoices } from '../pickers/use-member-choices.ts';
import { usePlaybookChoices } from '../pickers/use-playbook-choices.ts';
import { useRepositoryChoices } from '../pickers/use-repository-choices.ts';
import { useTagChoices } from '../pickers/use-tag-choices.ts';
import { common } from '../texts/common.ts';
import { filterBar as texts } from '../texts/sessions.ts';
import { Button } from '../ui/button.tsx';
import { Select, TextField } from '../ui/field.tsx';
import { Picker } from '../ui/picker.tsx';
import { type Choice, type ChoiceSource, fixedChoices } from '../ui/use-choices.ts';
import { CreatedFilter, CreatedRange } from './created-filter.tsx';
import { type Filter, type Filters, origins, pullRequestStates, stateGroups } from './filters.ts';
import { UsageFilters } from './usage-filters.tsx';
import { ViewButtons } from './views/view-buttons.tsx';

/** The delay between typing and search. */
const typingMs = 250;
const nobody = fixedChoices([]);

/** Collapsed behind a button, apart from those that are set. */
const collapsible = [
  'state',
  'origin',
  'playbook',
  'repository',
  'pr',
  'tag',
  'by',
] as const satisfies readonly (keyof Filters)[];

interface FilterBarProps {
  readonly organizationId: string;
  readonly filters: Filters;
  /** The filter as the service takes it. */
  readonly filter: Filter;
  readonly isNarrowed: boolean;
  readonly onChange: (changes: Partial<Filters>) => void;
  readonly onClear: () => void;
}

/** The filters of the session list. */
export function FilterBar({ organizationId, filters, filter, isNarrowed, onChange, onClear }: FilterBarProps) {
  const { viewer, may } = useSigned();
  const own = viewer.user?.userId ?? viewer.serviceUser?.serviceUserId ?? null;
  const members = useMemberChoices(organizationId);
  const people = may('VIEW_ORG_MEMBERSHIP') ? members : nobody;
  const playbooks = usePlaybookChoices(organizationId);
  const repositories = useRepositoryChoices(organizationId);
  const tags = useTagChoices(organizationId);
  const more = useId();
  const [isOpen, setOpen] = useState(false);
  const cell = (name: keyof Filters, field: ReactNode) => (
    <div className="filter" hidden={!isOpen && filters[name] === ''}>
      {field}
    </div>
  );
  const choice = (name: keyof Filters, label: string, options: ReactNode) =>
    cell(
      name,
      <Select
        label={label}
        isLabelHidden
        value={filters[name]}
        onChange={(event) => onChange({ [name]: event.target.value })}
      >
        {options}
      </Select>,
    );
  const picker = (
    name: keyof Filters,
    label: string,
    none: string,
    source: ChoiceSource,
    first: readonly Choice[] = [],
    takesOther = false,
  ) =>
    cell(
      name,
      <Picker
        {...{ label, none, source, first, takesOther }}
        isLabelHidden
        value={filters[name]}
        onChange={(value) => onChange({ [name]: value })}
      />,
    );
  const isDated = filters.created !== '' || filters.from !== '' || filters.to !== '';
  const count = collapsible.filter((name) => filters[name] !== '').length + Number(isDated);
  return (
    <search className="filters">
      <div className="filters-first">
        <TypedField
          label={filters.in ? texts.searchTranscripts : texts.searchTitles}
          placeholder={filters.in ? texts.searchTranscripts : texts.searchTitles}
          type="search"
          maxLength={300}
          value={filters.q}
          onChange={(q) => onChange({ q })}
        />
        <Button size="small" icon="filter" aria-expanded={isOpen} aria-controls={more} onClick={() => setOpen(!isOpen)}>
          {count === 0 ? texts.filter : texts.filterCount({ count })}
        </Button>
        <Button
          size="small"
          tone="quiet"
          aria-pressed={filters.in !== ''}
          onClick={() => onChange({ in: filters.in ? '' : 'transcripts' })}
        >
          {texts.inTranscripts}
        </Button>
        <Button
          size="small"
          tone="quiet"
          aria-pressed={filters.archived === 'yes'}
          onClick={() => onChange({ archived: filters.archived === 'yes' ? '' : 'yes' })}
        >
          {common.archived}
        </Button>
        {isNarrowed && (
          <Button size="small" tone="quiet" icon="close" onClick={onClear}>
            {texts.clear}
          </Button>
        )}
        <Suspense fallback={null}>
          <ViewButtons {...{ filters, filter, isNarrowed }} />
        </Suspense>
      </div>
      <UsageFilters filters={filters} onChange={onChange} />
      <div className="filters-more" id={more}>
        {choice('state', common.status, optionsOf(texts.anyStatus, stateLabels))}
        <CreatedFilter {...{ filters, isOpen, onChange }} />
        {choice('origin', common.origin, optionsOf(texts.anyOrigin, origins))}
        {picker('playbook', common.playbook, texts.anyPlaybook, playbooks)}
        {picker('repository', common.repository, texts.anyRepository, repositories, [], true)}
        {choice('pr', common.pullRequest, optionsOf(texts.anyPullRequest, pullRequestStates))}
        {picker('tag', texts.tag, texts.anyTag, tags, [], true)}
        {(own !== null || people !== nobody) &&
          picker(
            'by',
            common.startedBy,
            texts.byAnyone,
            people,
            own === null ? [] : [{ value: own, label: texts.byMe }],
          )}
        <CreatedRange {...{ filters, onChange }} />
        {isOpen && (
          <div className="filters-done">
            <Button tone="primary" onClick={() => setOpen(false)}>
              {texts.showResults}
            </Button>
          </div>
        )}
      </div>
    </search>
  );
}

const stateLabels = Object.fromEntries(Object.entries(stateGroups).map(([state, { label }]) => [state, label]));

/** Options for each value of a filter, after one for all. */
const optionsOf = (all: string, labels: Readonly<Record<string, string>>) => (
  <>
    <option value="">{all}</option>
    {Object.entries(labels).map(([value, label]) => (
      <option value={value} key={value}>
        {label}
      </option>
    ))}
  </>
);

interface TypedFieldProps {
  readonly label: string;
  readonly placeholder: string;
  readonly type?: string;
  readonly maxLength?: number;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Reports the text after a pause in typing. */
function TypedField({ value, onChange, ...rest }: TypedFieldProps) {
  const [text, setText] = useState(value);
  const timer = useRef(0);
  const lastReported = useRef(value);
  useEffect(() => {
    // A reported text comes back trimmed, possibly after more was typed.
    if (value !== lastReported.current) setText(value);
    lastReported.current = value;
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <TextField
      {...rest}
      isLabelHidden
      value={text}
      onChange={(event) => {
        const next = event.target.value;
        setText(next);
        clearTimeout(timer.current);
        timer.current = window.setTimeout(() => {
          lastReported.current = next.trim();
          onChange(lastReported.current);
        }, typingMs);
      }}
    />
  );
}
