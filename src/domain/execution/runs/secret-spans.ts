import { createDecodedView } from './decoded-view.ts';
import { unfinishedAt, unfinishedQuoteAt } from './encoded-characters.ts';
import { formsOf, minMaskedLength } from './masked-forms.ts';
import { escapedGaps, hasEscapedGaps, hasMarkedGaps, markedGaps, project, textGaps } from './projection.ts';
import { createFinder, type Span } from './secret-finder.ts';

/**
 * Finds the secrets in a text, in no order; the spans may overlap. `isPiece`: also finds parts of secrets at the
 * borders of the text.
 */
export type FindSpans = (text: string, isPiece: boolean) => Span[];

/** Creates a {@link FindSpans} for these values; null if none of them is long enough. */
export function createSpanFinder(values: readonly string[]): FindSpans | null {
  const forms = new Set(values.flatMap((value) => [...formsOf(value)]));
  const views = [
    viewOf(forms, textGaps[0]),
    viewOf(
      [...forms].filter((form) => /\s/.test(form)),
      textGaps[1],
    ),
  ].filter((view) => view !== null);
  const markedView = viewOf(forms, markedGaps);
  const escapedView = viewOf(forms, escapedGaps);
  const decodedView = createDecodedView(values);
  if (views.length === 0 || decodedView === null) return null;
  return (text, isPiece) => {
    const hasBreaks = /[\r\n]/.test(text);
    const spans = (hasBreaks ? views : views.slice(0, 1)).flatMap((view) => view(text, isPiece));
    if (markedView !== null && hasMarkedGaps.test(text)) spans.push(...markedView(text, isPiece));
    if (escapedView !== null && hasEscapedGaps.test(text)) spans.push(...escapedView(text, isPiece));
    for (const span of decodedView(text, isPiece ? endsOf(text, cutMark) : [])) spans.push(span);
    return spans;
  };
}

/** Finds secrets in a text after the gaps of both are removed. Null: there is nothing to find. */
function viewOf(forms: Iterable<string>, gaps: RegExp): ((text: string, isPiece: boolean) => Span[]) | null {
  const bare = [...forms].map((form) => project(form, gaps).text).filter((form) => form.length >= minMaskedLength);
  if (bare.length === 0) return null;
  const finder = createFinder(new Set(bare));
  return (original, isPiece) => {
    const { text, at } = project(original, gaps);
    const spans = finder.all(text);
    if (isPiece) {
      const ends = endsOf(text, project(cutMark, gaps).text);
      spans.push(...finder.atBorders(text, ends));
      spans.push(...ends.map((end) => finder.inside(text.slice(0, end))).filter((span) => span !== null));
    }
    return spans.map(([from, to]): Span => [at(from), at(to - 1) + 1]);
  };
}

// The service's mark for cut tool output (agents/acp/updates.ts).
const cutMark = '… (';

function endsOf(text: string, mark: string): number[] {
  const cut = text.lastIndexOf(mark);
  const ends = cut < 0 ? [text.length] : [cut, text.length];
  // A piece may also end in the middle of an encoded character.
  const halves = ends.map((end) => text.slice(0, end)).flatMap((head) => [unfinishedAt(head), unfinishedQuoteAt(head)]);
  return [...new Set([...ends, ...halves])];
}
