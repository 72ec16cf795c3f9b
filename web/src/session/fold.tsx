import type { ReactNode } from 'react';
import { transcriptFolds as texts } from '../texts/session.ts';
import { Icon } from '../ui/icons.tsx';
import { type AttemptRow, type FoldRow, foldSummary } from './fold-rows.ts';
import { FoldsMark } from './folds-mark.tsx';
import { useRowOpen } from './use-row-open.ts';

interface FoldProps {
  readonly row: FoldRow | AttemptRow;
  readonly children: () => ReactNode;
}

/** Finished tool calls, or an interrupted attempt, as one line, which shows them when it is opened. */
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
        <Icon name={row.type === 'fold' ? 'check' : 'pause'} />
        <span className="title">{row.type === 'fold' ? foldSummary(row) : texts.interrupted(row.rows.length)}</span>
        {row.type === 'attempt' && <span className="hint">{isOpen ? texts.hide : texts.show}</span>}
        <FoldsMark />
      </summary>
      {isOpen && <div className="fold-body">{children()}</div>}
    </details>
  );
}
