import { type ReactNode, useEffect, useRef, useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { filterBar_organization$key } from '../__generated__/filterBar_organization.graphql.ts';
import { useSigned } from '../app/gate.tsx';
import { Button } from '../ui/button.tsx';
import { Select, TextField } from '../ui/field.tsx';
import { type Filters, origins, stateGroups } from './filters.ts';

/** How long one types before it is looked for. */
const typingMs = 250;

interface FilterBarProps {
  readonly organization: filterBar_organization$key;
  readonly filters: Filters;
  readonly isNarrowed: boolean;
  readonly onChange: (changes: Partial<Filters>) => void;
}

/** What narrows the list of sessions. */
export function FilterBar({ organization, filters, isNarrowed, onChange }: FilterBarProps) {
  const { allowedTags, members, playbooks } = useFragment(
    graphql`
      fragment filterBar_organization on Organization
      @argumentDefinitions(seesMembers: { type: "Boolean!" }, seesTags: { type: "Boolean!" }) {
        allowedTags @include(if: $seesTags)
        members(first: 100) @include(if: $seesMembers) {
          nodes {
            user {
              userId
              name
              email
            }
          }
        }
        playbooks(first: 100) {
          nodes {
            playbookId
            title
          }
        }
      }
    `,
    organization,
  );
  const { viewer } = useSigned();
  const own = viewer.user?.userId ?? viewer.serviceUser?.serviceUserId ?? null;
  const others = members?.nodes.map(({ user }) => user).filter(({ userId }) => userId !== own) ?? [];
  const choice = (name: keyof Filters, label: string, options: ReactNode) => (
    <Select
      label={label}
      isLabelHidden
      value={filters[name]}
      onChange={(event) => onChange({ [name]: event.target.value })}
    >
      {options}
    </Select>
  );
  return (
    <search className="filters">
      <TypedField
        label="Search in titles and prompts"
        placeholder="Search"
        type="search"
        value={filters.q}
        onChange={(q) => onChange({ q })}
      />
      {choice(
        'state',
        'State',
        <>
          <option value="">Any state</option>
          {Object.entries(stateGroups).map(([value, { label }]) => (
            <option value={value} key={value}>
              {label}
            </option>
          ))}
        </>,
      )}
      {choice(
        'origin',
        'Origin',
        <>
          <option value="">Any origin</option>
          {Object.entries(origins).map(([value, label]) => (
            <option value={value} key={value}>
              {label}
            </option>
          ))}
        </>,
      )}
      {playbooks.nodes.length > 0 &&
        choice(
          'playbook',
          'Playbook',
          <>
            <option value="">Any playbook</option>
            {playbooks.nodes.map(({ playbookId, title }) => (
              <option value={playbookId} key={playbookId}>
                {title}
              </option>
            ))}
          </>,
        )}
      {allowedTags && allowedTags.length > 0 ? (
        choice(
          'tag',
          'Tag',
          <>
            <option value="">Any tag</option>
            {allowedTags.map((tag) => (
              <option key={tag}>{tag}</option>
            ))}
          </>,
        )
      ) : (
        <TypedField label="Tag" placeholder="Tag" value={filters.tag} onChange={(tag) => onChange({ tag })} />
      )}
      {(own || others.length > 0) &&
        choice(
          'by',
          'Started by',
          <>
            <option value="">By anybody</option>
            {own && <option value={own}>By me</option>}
            {others.map(({ userId, name, email }) => (
              <option value={userId} key={userId}>
                {name ?? email}
              </option>
            ))}
          </>,
        )}
      <div className="switches">
        <Button
          size="small"
          tone="quiet"
          aria-pressed={filters.archived !== ''}
          onClick={() => onChange({ archived: filters.archived ? '' : 'yes' })}
        >
          Archived
        </Button>
        {isNarrowed && (
          <Button
            size="small"
            tone="quiet"
            icon="close"
            onClick={() => onChange(Object.fromEntries(Object.keys(filters).map((name) => [name, ''])))}
          >
            Clear
          </Button>
        )}
      </div>
    </search>
  );
}

interface TypedFieldProps {
  readonly label: string;
  readonly placeholder: string;
  readonly type?: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Says what was typed when it has been typed. */
function TypedField({ value, onChange, ...rest }: TypedFieldProps) {
  const [text, setText] = useState(value);
  const timer = useRef(0);
  const said = useRef(value);
  useEffect(() => {
    // What this field said itself comes back without its spaces, and perhaps when more has been typed.
    if (value !== said.current) setText(value);
    said.current = value;
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
          said.current = next.trim();
          onChange(said.current);
        }, typingMs);
      }}
    />
  );
}
