import { terminal as texts } from '../texts/session-transcript.ts';
import './terminal.css';
import { memo, useLayoutEffect, useRef, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { visible } from '../ui/visible.ts';
import type { TerminalLine } from './terminal-screen.ts';
import { styleOf } from './terminal-style.ts';

/** The number of lines that are shown at first. */
const shownAtFirst = 400;
/** The distance from the end, in pixels, that counts as being at the end. */
const endThreshold = 16;

interface TerminalProps {
  readonly lines: readonly TerminalLine[];
  /** Title of the tool call. */
  readonly title: string;
  /** True if the beginning of the output is not among the lines. */
  readonly isCut: boolean;
}

/** The output of a program: as text with colours, without links. It stays at its end unless the user scrolls up. */
export function Terminal({ lines, title, isCut }: TerminalProps) {
  const [isAll, setAll] = useState(false);
  const box = useRef<HTMLElement>(null);
  const isFollowing = useRef(true);
  const shown = isAll ? lines : lines.slice(-shownAtFirst);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each time the end has moved.
  useLayoutEffect(() => {
    if (box.current && isFollowing.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines]);
  const scrolled = () => {
    if (!box.current) return;
    const { scrollTop, scrollHeight, clientHeight } = box.current;
    isFollowing.current = scrollHeight - scrollTop - clientHeight < endThreshold;
  };
  return (
    <div className="terminal-box">
      {shown.length < lines.length && (
        <Button size="small" onClick={() => setAll(true)}>
          {isCut ? texts.showLast(lines.length) : texts.showAll(lines.length)}
        </Button>
      )}
      {isCut && shown.length === lines.length && <p className="hint">{texts.cutHint}</p>}
      <section
        className={isAll ? 'terminal tall' : 'terminal'}
        ref={box}
        onScroll={scrolled}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be scrolled by keys too.
        tabIndex={0}
        aria-label={texts.outputOf({ title: visible(title) || texts.untitled })}
        dir="ltr"
      >
        {shown.map((line) => (
          <Line key={line.key} line={line} />
        ))}
      </section>
    </div>
  );
}

const Line = memo(function Line({ line: { runs } }: { readonly line: TerminalLine }) {
  return (
    <span className="terminal-line">
      {runs.map(({ text, style }, index) =>
        style === '' ? (
          text
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: runs have no identity.
          <span key={index} {...styleOf(style)}>
            {text}
          </span>
        ),
      )}
      {'\n'}
    </span>
  );
});
