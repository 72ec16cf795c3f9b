import { useMemo, useState } from 'react';
import { Change } from '../ui/change.tsx';
import { sizeOf } from '../ui/diff.ts';
import { Icon, type IconName } from '../ui/icons.tsx';
import { visible } from '../ui/visible.ts';
import type { EntryOf } from './entry.ts';

type Call = EntryOf<'ToolCallEvent'>;

const kindIcon: Readonly<Record<string, IconName>> = {
  READ: 'file',
  EDIT: 'edit',
  DELETE: 'close',
  MOVE: 'file',
  SEARCH: 'search',
  EXECUTE: 'terminal',
  THINK: 'thought',
  FETCH: 'link',
};

const statusLabels: Readonly<Record<string, string>> = {
  PENDING: 'waits',
  IN_PROGRESS: 'runs',
  COMPLETED: 'done',
  FAILED: 'failed',
};

/** A tool call, collapsed to one line; its output and changes can be expanded. */
export function ToolCall({ entry }: { readonly entry: Call }) {
  const [isOpen, setOpen] = useState(false);
  const { title, toolKind, toolStatus, output, diffs, locations } = entry;
  const hasMore = Boolean(output) || diffs.length > 0 || locations.length > 0;
  return (
    <details className={`tool ${toolStatus.toLowerCase()}`} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Icon name={kindIcon[toolKind] ?? 'gear'} />
        <span className="title">{visible(title) || 'Tool call'}</span>
        <Size diffs={diffs} />
        <span className="state">{statusLabels[toolStatus] ?? toolStatus}</span>
      </summary>
      {isOpen && (
        <div className="tool-body">
          {!hasMore && <p className="hint">It said nothing more.</p>}
          {diffs.length === 0 && locations.length > 0 && (
            <p className="hint">
              {visible(locations.map(({ path, line }) => (line ? `${path}:${line}` : path)).join(', '))}
            </p>
          )}
          {diffs.map((diff, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a call may change one file twice.
            <Change title={diff.path} change={diff} key={index} />
          ))}
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be scrolled by keys too. */}
          {output && <pre tabIndex={0}>{output}</pre>}
        </div>
      )}
    </details>
  );
}

function Size({ diffs }: { readonly diffs: Call['diffs'] }) {
  const size = useMemo(() => sizeOf(diffs), [diffs]);
  if (!size || size.added + size.removed === 0) return null;
  return (
    <span className="size">
      <ins>+{size.added}</ins> <del>−{size.removed}</del>
    </span>
  );
}
