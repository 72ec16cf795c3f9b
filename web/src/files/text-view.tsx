import { textView as texts } from '../texts/files.ts';
import '../changes/diff-table.css';
import { useMemo, useState } from 'react';
import type { TokenNode } from 'react-diff-view';
import { firstLines, type Hunk, languageOf, linesAtOnce, toHunkData } from '../changes/diff-lines.ts';
import { useTokens } from '../changes/highlight.ts';
import { Button } from '../ui/button.tsx';

interface TextViewProps {
  readonly path: string;
  readonly text: string;
}

/** The text of a file with line numbers and syntax colours. Of a long text, the first lines, and more of them by a button. */
export function TextView({ path, text }: TextViewProps) {
  const [count, setCount] = useState(linesAtOnce);
  const all = useMemo(() => toLines(text), [text]);
  // An unchanged part of a diff is highlighted as it is.
  const shown = useMemo(() => firstLines([hunkOf(all)], count), [all, count]);
  const lines = useMemo(() => toHunkData(shown).flatMap(({ changes }) => changes), [shown]);
  const tokens = useTokens(shown, languageOf(path))?.new;
  const more = Math.min(linesAtOnce, all.length - count);
  return (
    <div className="diff-table text-view">
      <table>
        <colgroup>
          <col className="diff-gutter-col" />
          <col />
        </colgroup>
        <tbody>
          {lines.map(({ content }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line has nothing but its number.
            <tr key={index}>
              <td className="diff-gutter" data-line={index + 1} />
              <td className="diff-code">{tokens?.[index] ? tokens[index].map(renderToken) : content}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 && (
        <p className="diff-more">
          <Button size="small" onClick={() => setCount(count + linesAtOnce)}>
            {texts.showMoreLines({ count: more })}
          </Button>
          <span>{texts.linesShown({ shown: count, total: all.length })}</span>
        </p>
      )}
    </div>
  );
}

// A line feed ends a line: there is none after the last one.
function toLines(text: string): readonly string[] {
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

function hunkOf(lines: readonly string[]): Hunk {
  const count = lines.length;
  const numbers = { oldStart: 1, oldLines: count, newStart: 1, newLines: count };
  return { ...numbers, heading: '', lines: lines.map((line) => ` ${line}`) };
}

function renderToken({ type, value, properties, className, children }: TokenNode, index: number) {
  if (type === 'text') return value as string;
  const names: unknown = className ?? properties?.className;
  return (
    <span className={Array.isArray(names) ? names.join(' ') : String(names ?? '')} key={index}>
      {children ? children.map(renderToken) : (value as string)}
    </span>
  );
}
