import { bareForms, decodedForms, decodedGaps, decodings } from './decoded-forms.ts';
import type { DecodedText } from './decoded-text.ts';
import { unfinishedAt } from './encoded-characters.ts';
import { escapedGaps, hasEscapedGaps, project } from './projection.ts';
import { createFinder, type Finder, type Span } from './secret-finder.ts';

/** Maximum length of the rest of an encoded character that a piece may begin with: `00041;` of `&#00041;`. */
const maxRest = 12;

/**
 * Finds secrets in a text of which any characters are encoded, each in another way; null: there is nothing to find.
 * `ends`: the indices in a piece before which a part of a secret counts.
 */
export function createDecodedView(
  values: readonly string[],
): ((text: string, ends: readonly number[]) => Span[]) | null {
  const forms = [...decodedForms(values)];
  const views = decodedGaps.map((gaps) => {
    const wanted = gaps === decodedGaps[1] ? forms.filter((form) => form.search(gaps) >= 0) : forms;
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
  if (gaps === escapedGaps && !hasEscapedGaps.test(decoded.bytes)) return [];
  const { text, at } = project(decoded.bytes, gaps);
  const spanOf = (from: number, to: number): Span => [decoded.startOf(at(from)), decoded.endOf(at(to - 1))];
  const spans = finder.all(text).map(([from, to]) => spanOf(from, to));
  const rests = restsOf(original, text);
  for (const end of ends) {
    // A piece may also end in the middle of an encoded character, or where one only seems to continue.
    for (const whole of new Set([end, unfinishedAt(original.slice(0, end))].map((at) => decoded.byteAt(at)))) {
      const cut = project(decoded.bytes.slice(0, whole), gaps).text;
      for (const [from, to] of finder.atBorders(cut, [cut.length])) {
        const [first, last] = spanOf(from, to);
        spans.push([first, to === cut.length ? end : last]);
      }
      for (const skipped of [0, ...rests]) {
        if (finder.inside(cut.slice(skipped)) !== null) spans.push([0, end]);
      }
    }
  }
  if (ends.length === 0) return spans;
  for (const skipped of rests) {
    for (const [, to] of finder.atBorders(text.slice(skipped), [])) spans.push([0, spanOf(0, skipped + to)[1]]);
  }
  return spans;
}

/**
 * Returns the numbers of characters at the start of a piece that may belong to an encoded character at the end of the piece before
 * it. `text`: the piece, decoded.
 */
export function restsOf(original: string, text: string): Set<number> {
  const named = text.slice(0, maxRest).indexOf(';') + 1;
  return new Set([1, 2, ...(/^["'\\]/.test(original) ? [3, 4] : []), ...(named > 0 ? [named] : [])]);
}
