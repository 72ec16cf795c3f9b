import { common, createLowlight } from 'lowlight';
import { type HunkData, type HunkTokens, markEdits, type TokenNode, tokenize } from 'react-diff-view';
import { visible } from '../ui/visible.ts';
import { similarLines } from './pair-lines.ts';

/** Hunks of a file to highlight. The lines of each are counted from 1. */
export interface HighlightJob {
  readonly id: number;
  readonly hunks: readonly HunkData[];
  readonly language: string;
}

/** The result of a {@link HighlightJob}: the tokens of each hunk; null: it failed. */
export interface Highlighted {
  readonly id: number;
  readonly tokens: readonly HunkTokens[] | null;
}

/** Changed words are marked in hunks with fewer lines: the comparison takes quadratic time. */
const maxLinesForEdits = 400;

const lowlight = createLowlight(common);

// The part of refractor's interface that react-diff-view uses. Its types are those of an old version of refractor.
const refractor = {
  highlight: (text: string, language: string) => lowlight.highlight(language, text).children,
} as never;

/** Shows characters that change the direction of text or are invisible, in all texts of a token. */
function toVisible(token: TokenNode): TokenNode {
  const { value, children } = token;
  return {
    ...token,
    ...(typeof value === 'string' && { value: visible(value) }),
    ...(children && { children: children.map(toVisible) }),
  };
}

/** Marks what differs between two similar lines, the same ones that are opposite in two columns. */
const wordEdits = (hunk: HunkData) => markEdits([{ ...hunk, changes: similarLines(hunk.changes) }], { type: 'line' });

function highlight(hunk: HunkData, language: string): HunkTokens {
  const enhancers = hunk.changes.length <= maxLinesForEdits ? [wordEdits(hunk)] : [];
  const { old, new: now } = lowlight.registered(language)
    ? tokenize([hunk], { highlight: true, refractor, language, enhancers })
    : tokenize([hunk], { enhancers });
  const show = (lines: readonly TokenNode[][]) => lines.map((line) => line.map(toVisible));
  return { old: show(old), new: show(now) };
}

self.addEventListener('message', ({ data }: MessageEvent<HighlightJob>) => {
  let tokens: readonly HunkTokens[] | null = null;
  try {
    tokens = data.hunks.map((hunk) => highlight(hunk, data.language));
  } catch {
    // The lines are shown without colours.
  }
  self.postMessage({ id: data.id, tokens } satisfies Highlighted);
});
