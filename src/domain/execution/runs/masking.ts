import type { Span } from './secret-finder.ts';
import { createSpanFinder } from './secret-spans.ts';

/** What stands where a secret was. */
const replacement = '********';

/**
 * Blots out secrets in text. `isPiece`: the text is a part of a longer one, so that at its borders also a part of a secret is
 * blotted out. Joined text is better: a secret that straddles two texts is only seen in the whole.
 */
export type Mask = (text: string, isPiece?: boolean) => string;

/**
 * A {@link Mask} for these values, in all the ways of {@link formsOf}, also where line breaks have been put into them, and where any of
 * their characters are encoded for addresses, HTML or JSON. Values
 * under six characters are left alone: they would blot out ordinary words. One pass, however many there are. `findSpans`: of the same
 * values, where there is one already.
 */
export function createMask(values: readonly string[], findSpans = createSpanFinder(values)): Mask {
  if (findSpans === null) return (text) => text;
  return (text, isPiece = false) => {
    const spans = findSpans(text, isPiece);
    return spans.length === 0 ? text : replaceSpans(text, spans);
  };
}

function replaceSpans(text: string, spans: Span[]): string {
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
