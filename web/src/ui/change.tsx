import { change as texts } from '../texts/ui.ts';
import './change.css';
import { type DiffLine, type FileChange, linesOf } from './diff.ts';
import { visible } from './visible.ts';

const sign = { same: ' ', added: '+', removed: '−', gap: ' ' } as const satisfies Record<DiffLine['type'], string>;

interface ChangeProps {
  /** The changed file or field. */
  readonly title: string;
  readonly change: FileChange;
}

/** A line-by-line diff of a text. */
export function Change({ title, change }: ChangeProps) {
  return (
    <figure className="diff">
      <figcaption>
        <bdi>{visible(title)}</bdi> {change.oldText === null && <span className="tag">{texts.new}</span>}
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be scrolled by keys too. */}
      <pre tabIndex={0}>
        {linesOf(change).map(({ type, text }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines never change.
          <span className={type} key={index}>{`${sign[type]} ${visible(text)}\n`}</span>
        ))}
      </pre>
    </figure>
  );
}
