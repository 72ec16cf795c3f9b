import { formsOf, shortestMasked } from './masked-forms.ts';
import { createFinder, type Span } from './secret-finder.ts';

/** What stands where a secret was. */
const blot = '********';

/**
 * Blots out secrets in text. `isPiece`: the text is a part of a longer one, so that at its borders also a part of a secret is
 * blotted out. Joined text is better: a secret that straddles two texts is only seen in the whole.
 */
export type Mask = (text: string, isPiece?: boolean) => string;

/**
 * A {@link Mask} for these values, in all the ways of {@link formsOf}, also where line breaks have been put into them. Values
 * under six characters are left alone: they would blot out ordinary words. One pass, however many there are.
 */
export function createMask(values: readonly string[]): Mask {
  const forms = new Set<string>();
  for (const value of values) {
    for (const form of formsOf(value)) {
      const even = project(form).text;
      if (even.length >= shortestMasked) forms.add(even);
    }
  }
  if (forms.size === 0) return (text) => text;
  const finder = createFinder(forms);
  return (text, isPiece = false) => {
    const projected = project(text);
    const spans = finder.all(projected.text);
    if (isPiece) spans.push(...finder.atBorders(projected.text, endsOf(projected.text)));
    return spans.length === 0 ? text : blotted(text, spans, projected.at);
  };
}

interface Projection {
  /** Without line breaks and the indentation after them. */
  readonly text: string;
  /** Where a character of it stands in the original. */
  readonly at: (index: number) => number;
}

// Encoders, terminals and mail break long lines: a secret is the same secret with line breaks in it.
function project(text: string): Projection {
  if (!/[\r\n]/.test(text)) return { text, at: (index) => index };
  const kept: [from: number, to: number][] = [];
  let last = 0;
  for (const gap of text.matchAll(/[\r\n]\s*/g)) {
    if (gap.index > last) kept.push([last, gap.index]);
    last = gap.index + gap[0].length;
  }
  if (last < text.length) kept.push([last, text.length]);
  const starts = new Int32Array(kept.length);
  let length = 0;
  kept.forEach(([from, to], n) => {
    starts[n] = length;
    length += to - from;
  });
  const at = (index: number) => {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] as number) <= index) low = middle;
      else high = middle - 1;
    }
    return (kept[low]?.[0] ?? 0) + index - (starts[low] ?? 0);
  };
  return { text: kept.map(([from, to]) => text.slice(from, to)).join(''), at };
}

// Where tool output is cut, words of the service follow (agents/acp/updates.ts).
const cutMark = '… (';

function endsOf(text: string): number[] {
  const cut = text.lastIndexOf(cutMark);
  return cut < 0 ? [text.length] : [cut, text.length];
}

function blotted(text: string, spans: Span[], at: (index: number) => number): string {
  spans.sort(([a], [b]) => a - b);
  let [masked, done, n] = ['', 0, 0];
  while (n < spans.length) {
    const [from, first] = spans[n] as Span;
    let to = first;
    for (n++; n < spans.length && (spans[n] as Span)[0] < to; n++) to = Math.max(to, (spans[n] as Span)[1]);
    masked += text.slice(done, at(from)) + blot;
    done = at(to - 1) + 1;
  }
  return masked + text.slice(done);
}

// What may be a part of something longer: messages are cut where an agent pauses, output and diffs where they are too long.
const pieces = new Set(['text', 'output', 'oldText', 'newText']);

/** A {@link Mask} on every string inside a value, the names of its fields included. */
export function maskDeep<T>(value: T, mask: Mask, name = ''): T {
  if (typeof value === 'string') return mask(value, pieces.has(name)) as T;
  if (Array.isArray(value)) return value.map((item: unknown) => maskDeep(item, mask, name)) as T;
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [mask(key), maskDeep(inner, mask, key)])) as T;
}
