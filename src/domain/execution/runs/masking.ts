import type { Span } from './secret-finder.ts';
import { createSpanFinder } from './secret-spans.ts';

/** The replacement of a secret. */
const replacement = '********';

/**
 * Masks secrets in text. `isPiece`: the text is a part of a longer one, so that a part of a secret at its borders is
 * masked too. Mask joined text if possible: a secret that spans two texts is only recognized in the whole.
 */
export type Mask = (text: string, isPiece?: boolean) => string;

/**
 * Creates a {@link Mask} for these values, in all {@link formsOf} them, even with inserted line breaks, and with any
 * characters encoded for URLs, HTML or JSON. Values under six characters are not masked: they would mask ordinary
 * words. One pass, however many values there are. `findSpans`: an existing finder of the same values.
 */
export function createMask(values: readonly string[], findSpans = createSpanFinder(values)): Mask {
  if (findSpans === null) return (text) => text;
  return (text, isPiece = false) => {
    const spans = findSpans(text, isPiece);
    return spans.length === 0 ? text : replaceSpans(text, spans);
  };
}

/** Replaces these spans of a text, in any order and possibly overlapping. */
export function replaceSpans(text: string, spans: Span[]): string {
  spans.sort(([a], [b]) => a - b);
  let [masked, done, n] = ['', 0, 0];
  while (n < spans.length) {
    const [from, first] = spans[n] as Span;
    let to = first;
    for (n++; n < spans.length && (spans[n] as Span)[0] < to; n++) to = Math.max(to, (spans[n] as Span)[1]);
    masked += text.slice(done, from) + replacement;
    done = to;
  }
  return masked + text.slice(done);
}

// Fields that may contain a part of a longer text: messages are split when an agent pauses, and long output and diffs
// are cut.
const pieces = new Set(['text', 'output', 'oldText', 'newText']);

/**
 * Applies a {@link Mask} to every string inside a value, including field names. A number that contains a secret becomes
 * null, because a number cannot be masked.
 */
export function maskDeep<T>(value: T, mask: Mask, name = ''): T {
  if (typeof value === 'string') return mask(value, pieces.has(name)) as T;
  if (typeof value === 'number' && mask(String(value)) !== String(value)) return null as T;
  if (Array.isArray(value)) return value.map((item: unknown) => maskDeep(item, mask, name)) as T;
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [mask(key), maskDeep(inner, mask, key)])) as T;
}
