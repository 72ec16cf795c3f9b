import { diffTable as texts } from '../texts/changes.ts';
import './diff-table.css';
import { Fragment, useMemo, useRef, useState } from 'react';
import { Decoration, Diff, Hunk as DiffHunk, type DiffType, type HunkData } from 'react-diff-view';
import { Button } from '../ui/button.tsx';
import { fileLines } from './comment-lines.ts';
import { countLines, firstLines, type Hunk, languageOf, linesAtOnce, toHunkData } from './diff-lines.ts';
import { useTokens } from './highlight.ts';
import { OutdatedComments, renderLineButton, useLineComments } from './line-comments.tsx';
import { sideBySide } from './pair-lines.ts';

/** The arrangement of a diff: both versions in one column, or side by side. */
export type DiffView = 'unified' | 'split';

interface DiffTableProps {
  readonly path: string;
  readonly status: string;
  readonly hunks: readonly Hunk[];
  readonly view: DiffView;
}

/** The hunks of a file, with syntax colours. Of a long diff, the first lines, and more of them by a button. */
export function DiffTable({ path, status, hunks, view }: DiffTableProps) {
  const [count, setCount] = useState(linesAtOnce);
  const all = useMemo(() => countLines(hunks), [hunks]);
  const shown = useMemo(() => firstLines(hunks, count), [hunks, count]);
  const data = useMemo(() => {
    const parts = toHunkData(shown);
    return view === 'split' ? parts.map((hunk) => ({ ...hunk, changes: sideBySide(hunk.changes) })) : parts;
  }, [shown, view]);
  const tokens = useTokens(shown, languageOf(path));
  const more = Math.min(linesAtOnce, all - count);
  const box = useRef<HTMLDivElement>(null);
  const lines = useMemo(() => fileLines(hunks), [hunks]);
  const { isEnabled, widgets, outdated, selected, handlers } = useLineComments(path, lines, box);
  return (
    <div className="diff-table" ref={box} {...(isEnabled && handlers)}>
      <OutdatedComments>{outdated}</OutdatedComments>
      <Diff
        diffType={diffType(status)}
        hunks={data}
        viewType={view}
        tokens={tokens}
        widgets={widgets}
        selectedChanges={selected}
        {...(isEnabled && { renderGutter: renderLineButton })}
        optimizeSelection
      >
        {(parts) =>
          parts.map((hunk) => (
            <Fragment key={`${hunk.oldStart},${hunk.newStart}`}>
              <Decoration>
                <span className="diff-heading">{headingOf(hunk)}</span>
              </Decoration>
              <DiffHunk hunk={hunk} />
            </Fragment>
          ))
        }
      </Diff>
      {more > 0 && (
        <p className="diff-more">
          <Button size="small" onClick={() => setCount(count + linesAtOnce)}>
            {texts.showMoreLines({ count: more })}
          </Button>
          <span>{texts.linesShown({ shown: count, total: all })}</span>
        </p>
      )}
    </div>
  );
}

function diffType(status: string): DiffType {
  if (status === 'ADDED') return 'add';
  return status === 'DELETED' ? 'delete' : 'modify';
}

const headingOf = ({ oldStart, oldLines, newStart, newLines, content }: HunkData) =>
  `@@ −${oldStart},${oldLines} +${newStart},${newLines} @@ ${content}`;
