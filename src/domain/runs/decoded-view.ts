import { bareForms, decodedForms, decodedGaps, decodings } from './decoded-forms.ts';
import { type DecodedText, unfinishedAt } from './decoded-text.ts';
import { project } from './projection.ts';
import { createFinder, type Finder, type Span } from './secret-finder.ts';

/** Longest rest of an encoded character that a piece may begin with: `00041;` of `&#00041;`. */
const maxRest = 12;

/**
 * Finds secrets in a text of which any characters are encoded, each in another way; null: there is nothing to look for. `ends`
 * are the places of a piece before which a part of a secret counts.
 */
export function createDecodedView(
  values: readonly string[],
): ((text: string, ends: readonly number[]) => Span[]) | null {
  const forms = [...decodedForms(values)];
  const views = decodedGaps.map((gaps, n) => {
    const wanted = n === 0 ? forms : forms.filter((form) => form.search(gaps) >= 0);
    return { gaps, finder: createFinder(bareForms(wanted, gaps)) };
  });
  if (forms.length === 0) return null;
  return (text, ends) =>
    decodings(text).flatMap((decoded) => views.flatMap((view) => spansOf(view, text, decoded, ends)));
}

interface View {
  readonly gaps: RegExp;
  readonly finder: Finder;
}

function spansOf({ gaps, finder }: View, original: string, decoded: DecodedText, ends: readonly number[]): Span[] {
  const { text, at } = project(decoded.bytes, gaps);
  const spanOf = (from: number, to: number): Span => [decoded.startOf(at(from)), decoded.endOf(at(to - 1))];
  const spans = finder.all(text).map(([from, to]) => spanOf(from, to));
  const rest = text.slice(0, maxRest).indexOf(';') + 1;
  for (const end of ends) {
    // A piece may also end in the middle of an encoded character.
    const whole = decoded.byteAt(unfinishedAt(original.slice(0, end)));
    const cut = project(decoded.bytes.slice(0, whole), gaps).text;
    for (const [from, to] of finder.atBorders(cut, [cut.length])) {
      const [first, last] = spanOf(from, to);
      spans.push([first, to === cut.length ? end : last]);
    }
    for (const skipped of new Set([0, 1, 2, rest])) {
      if (finder.inside(cut.slice(skipped)) !== null) spans.push([0, end]);
    }
  }
  if (ends.length === 0) return spans;
  for (const skipped of new Set([1, 2, rest])) {
    for (const [, to] of finder.atBorders(text.slice(skipped), [])) spans.push([0, spanOf(0, skipped + to)[1]]);
  }
  return spans;
}
