import { useRef } from 'react';
import type { Draft } from './open-drafts.ts';
import { type TerminalLine, TerminalScreen } from './terminal-screen.ts';

interface Fed {
  readonly screen: TerminalScreen;
  /** The draft or the text that the screen shows. */
  readonly source: string;
  /** True if the screen has the output to its end. */
  isComplete: boolean;
  /** True if the screen lacks the beginning. */
  isCut: boolean;
  /** Position in the draft after the last character that the screen has. */
  end: number;
  lines: readonly TerminalLine[];
}

/** The output of a tool call, applied to a screen. */
interface Output {
  readonly lines: readonly TerminalLine[];
  readonly isCut: boolean;
}

/**
 * Applies the output of a tool call to a screen: what is new of a draft, or the output of the entry. The screen of a
 * complete draft stays when the entry follows, which may have less of it. `isPart`: the output of the entry is only the
 * end of the output.
 */
export function useOutput(draft: Draft | null, output: string | null, isPart: boolean): Output {
  const fed = useRef<Fed | null>(null);
  if (draft !== null) {
    const source = `${draft.draftId} ${draft.revision}`;
    if (fed.current?.source !== source || draft.start > fed.current.end) {
      const screen = new TerminalScreen();
      fed.current = { screen, source, isComplete: false, isCut: draft.start > 0, end: draft.start, lines: [] };
    }
    const { current } = fed;
    const end = draft.start + draft.text.length;
    if (end > current.end) {
      current.screen.write(draft.text.slice(current.end - draft.start));
      current.end = end;
      current.lines = current.screen.lines();
    }
    current.isComplete = draft.isDone;
  } else if (fed.current === null || !(fed.current.isComplete || fed.current.source === `text ${output}`)) {
    const screen = new TerminalScreen();
    screen.write(output ?? '');
    fed.current = { screen, source: `text ${output}`, isComplete: false, isCut: isPart, end: 0, lines: screen.lines() };
  }
  const { lines, isCut, screen } = fed.current;
  // The line after the last line break is not there yet.
  return { lines: lines.at(-1)?.runs.length === 0 ? lines.slice(0, -1) : lines, isCut: isCut || screen.isCut };
}
