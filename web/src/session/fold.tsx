import type { ReactNode } from 'react';
import { Icon } from '../ui/icons.tsx';
import { type FoldRow, foldSummary } from './fold-rows.ts';
import { useRowOpen } from './use-row-open.ts';

interface FoldProps {
  readonly row: FoldRow;
  readonly children: () => ReactNode;
}

/** Finished tool calls as one line, which shows them when it is opened. */
export function Fold({ row, children }: FoldProps) {
  const [isExpanded, setExpanded] = useRowOpen(row.key);
  const isOpen = isExpanded === true;
  return (
    <details
      className="tool fold"
      open={isOpen}
      onToggle={(event) => {
        const { open } = event.currentTarget;
        // The calls inside have events of their own.
        if (event.target === event.currentTarget && open !== isOpen) setExpanded(open);
      }}
    >
      <summary>
        <Icon name="check" />
        <span className="title">{foldSummary(row)}</span>
        <Icon name="chevron" size={14} />
      </summary>
      {isOpen && <div className="fold-body">{children()}</div>}
    </details>
  );
}
