import { unfinishedAt } from './decoded-text.ts';
import { createDecodedView } from './decoded-view.ts';
import { formsOf, shortestMasked } from './masked-forms.ts';
import { markedGaps, project, textGaps } from './projection.ts';
import { createFinder, type Span } from './secret-finder.ts';

/** What stands where a secret was. */
const blot = '********';

/**
 * Blots out secrets in text. `isPiece`: the text is a part of a longer one, so that at its borders also a part of a secret is
 * blotted out. Joined text is better: a secret that straddles two texts is only seen in the whole.
 */
export type Mask = (text: string, isPiece?: boolean) => string;

/**
 * A {@link Mask} for these values, in all the ways of {@link formsOf}, also where line breaks have been put into them, and where any of
 * their characters are encoded for addresses, HTML or JSON. Values
 * under six characters are left alone: they would blot out ordinary words. One pass, however many there are.
 */
export function createMask(values: readonly string[]): Mask {
  const forms = new Set(values.flatMap((value) => [...formsOf(value)]));
  const views = [
    viewOf(forms, textGaps[0]),
    viewOf(
      [...forms].filter((form) => /\s/.test(form)),
      textGaps[1],
    ),
  ].filter((view) => view !== null);
  const markedView = viewOf(forms, markedGaps);
  const decodedView = createDecodedView(values);
  if (views.length === 0 || decodedView === null) return (text) => text;
  return (text, isPiece = false) => {
    const hasBreaks = /[\r\n]/.test(text);
    const spans = (hasBreaks ? views : views.slice(0, 1)).flatMap((view) => view(text, isPiece));
    if (markedView !== null && hasMarks.test(text)) spans.push(...markedView(text, isPiece));
    for (const span of decodedView(text, isPiece ? endsOf(text, cutMark) : [])) spans.push(span);
    return spans.length === 0 ? text : blotted(text, spans);
  };
}

/** Cheap test for the gaps that only {@link markedGaps} finds. */
const hasMarks = /\\[rn]|[\r\n][ \t]*[+>-]/;

/** Where secrets stand in a text, when both are looked at without their gaps. Null: there is nothing to look for. */
function viewOf(forms: Iterable<string>, gaps: RegExp): ((text: string, isPiece: boolean) => Span[]) | null {
  const bare = [...forms].map((form) => project(form, gaps).text).filter((form) => form.length >= shortestMasked);
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

// Where tool output is cut, words of the service follow (agents/acp/updates.ts).
const cutMark = '… (';

function endsOf(text: string, mark: string): number[] {
  const cut = text.lastIndexOf(mark);
  const ends = cut < 0 ? [text.length] : [cut, text.length];
  // A piece may also end in the middle of an encoded character.
  return [...new Set(ends.flatMap((end) => [end, unfinishedAt(text.slice(0, end))]))];
}

function blotted(text: string, spans: Span[]): string {
  spans.sort(([a], [b]) => a - b);
  let [masked, done, n] = ['', 0, 0];
  while (n < spans.length) {
    const [from, first] = spans[n] as Span;
    let to = first;
    for (n++; n < spans.length && (spans[n] as Span)[0] < to; n++) to = Math.max(to, (spans[n] as Span)[1]);
    masked += text.slice(done, from) + blot;
    done = to;
  }
  return masked + text.slice(done);
}

// What may be a part of something longer: messages are cut where an agent pauses, output and diffs where they are too long.
const pieces = new Set(['text', 'output', 'oldText', 'newText']);

/**
 * A {@link Mask} on every string inside a value, the names of its fields included. A number that holds a secret becomes null:
 * nothing else fits where a number stands.
 */
export function maskDeep<T>(value: T, mask: Mask, name = ''): T {
  if (typeof value === 'string') return mask(value, pieces.has(name)) as T;
  if (typeof value === 'number' && mask(String(value)) !== String(value)) return null as T;
  if (Array.isArray(value)) return value.map((item: unknown) => maskDeep(item, mask, name)) as T;
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [mask(key), maskDeep(inner, mask, key)])) as T;
}
