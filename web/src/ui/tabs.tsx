import './tabs.css';
import { type KeyboardEvent, useEffect, useRef } from 'react';
import { writeNumber } from './number.ts';

/** A tab of {@link Tabs}. */
export interface Tab {
  /** The tab has the id `tab-{id}`, and its panel `panel-{id}`. */
  readonly id: string;
  readonly label: string;
  /** A number behind the label, or a text with one; null: none. `countLabel` says of what. */
  readonly count?: number | string | null;
  readonly countLabel?: string;
}

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly selected: string;
  readonly onSelect: (id: string) => void;
}

/** A row of tabs, one of which has the focus: arrow keys, Home and End select. See {@link panelProps} for the panels. */
export function Tabs({ label, tabs, selected, onSelect }: TabsProps) {
  const list = useRef<HTMLDivElement>(null);
  // A narrow row shows a part of its tabs.
  useEffect(() => {
    list.current?.querySelector(`#tab-${selected}`)?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [selected]);
  const press = (event: KeyboardEvent) => {
    const at = tabs.findIndex(({ id }) => id === selected);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    const tab = next === undefined ? undefined : tabs[(next + tabs.length) % tabs.length];
    if (!tab) return;
    event.preventDefault();
    onSelect(tab.id);
    list.current?.querySelector<HTMLElement>(`#tab-${tab.id}`)?.focus();
  };
  return (
    <div className="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={press}>
      {tabs.map(({ id, label: name, count, countLabel }) => (
        <button
          type="button"
          role="tab"
          id={`tab-${id}`}
          aria-controls={`panel-${id}`}
          aria-selected={id === selected}
          tabIndex={id === selected ? 0 : -1}
          onClick={() => onSelect(id)}
          key={id}
        >
          {name}
          {count != null && (
            <span className="count">
              {typeof count === 'number' ? writeNumber(count) : count}
              {countLabel && <span className="for-readers"> {countLabel}</span>}
            </span>
          )}
        </button>
      ))}
    </div>
  );
}

/** The attributes of a tab's panel. */
export const panelProps = (id: string, selected: string) =>
  ({
    'role': 'tabpanel',
    'id': `panel-${id}`,
    'aria-labelledby': `tab-${id}`,
    'hidden': id !== selected,
  }) as const;
