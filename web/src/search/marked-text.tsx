import './search.css';
import { Fragment } from 'react';
import { visible } from '../ui/visible.ts';
import type { TextRange } from './text-range.ts';

/** A text with its matched parts marked. `ranges`: in order, without overlaps. */
export function MarkedText({ text, ranges }: { readonly text: string; readonly ranges: readonly TextRange[] }) {
  return ranges.map(({ start, length }, index) => {
    const before = ranges[index - 1];
    const end = start + length;
    return (
      <Fragment key={start}>
        {visible(text.slice(before ? before.start + before.length : 0, start))}
        <mark>{visible(text.slice(start, end))}</mark>
        {index === ranges.length - 1 && visible(text.slice(end))}
      </Fragment>
    );
  });
}
