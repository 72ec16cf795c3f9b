import './json-tree.css';
import { useState } from 'react';
import { jsonTree as texts } from '../texts/ui.ts';

/** The number of members shown of a large value, so that it does not block the page. */
const maxMembers = 200;

interface JsonTreeProps {
  readonly value: unknown;
  readonly name?: string;
  readonly depth?: number;
}

/** A JSON value as an expandable tree; its first two levels are expanded. Collapsed parts are not rendered. */
export function JsonTree({ value, name, depth = 0 }: JsonTreeProps) {
  const [isOpen, setOpen] = useState(depth < 2);
  const label = name === undefined ? null : <span className="key">{name}: </span>;
  if (typeof value !== 'object' || value === null) {
    return (
      <div className="leaf">
        {label}
        <span className={value === null ? 'null' : typeof value}>{JSON.stringify(value)}</span>
      </div>
    );
  }
  const isList = Array.isArray(value);
  const members = Object.entries(value);
  if (members.length === 0) {
    return (
      <div className="leaf">
        {label}
        {isList ? '[]' : '{}'}
      </div>
    );
  }
  return (
    <details
      className={depth === 0 ? 'json' : undefined}
      open={isOpen}
      onToggle={(event) => {
        // React also bubbles the events of nested trees.
        if (event.target === event.currentTarget) setOpen(event.currentTarget.open);
      }}
    >
      <summary>
        {label}
        <span className="count">
          {isList ? texts.items({ count: members.length }) : texts.fields({ count: members.length })}
        </span>
      </summary>
      {isOpen &&
        members
          .slice(0, maxMembers)
          .map(([key, member]) => <JsonTree value={member} name={key} depth={depth + 1} key={key} />)}
      {isOpen && members.length > maxMembers && (
        <div className="leaf">{texts.more({ count: members.length - maxMembers })}</div>
      )}
    </details>
  );
}
