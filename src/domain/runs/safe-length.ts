import { bareForms, decodedForms, decodedGaps, decodings } from './decoded-forms.ts';
import { unfinishedAt } from './decoded-text.ts';
import { formsOf } from './masked-forms.ts';
import { project } from './projection.ts';

/** An encoded character rarely takes more than this: how far back encoded secrets are looked for. */
const maxEncodedLength = 16;

/**
 * Tells how much of a text may be stored while the rest of it is still to come: what it ends with may be the beginning of a
 * secret, in any of its forms, with any of its characters encoded, and would no longer be recognised in two pieces.
 */
export function createSafeLength(values: readonly string[]): (text: string) => number {
  const plain = createTailFinder(values.flatMap((value) => [...formsOf(value)]));
  const forms = [...decodedForms(values)];
  const views = decodedGaps.map((gaps) => ({ gaps, find: createTailFinder(bareForms(forms, gaps)) }));
  const longest = Math.max(0, ...forms.map((form) => form.length));
  if (longest === 0) return (text) => text.length;
  return (text) => {
    // More may follow what begins like an encoded character.
    const whole = unfinishedAt(text);
    const start = Math.max(0, whole - longest * maxEncodedLength);
    const starts = decodings(text.slice(start, whole)).flatMap((pass) =>
      views.map(({ gaps, find }) => {
        const { text: bytes, at } = project(pass.bytes, gaps);
        // What was encoded twice may be unfinished too.
        const inner = unfinishedAt(bytes);
        const tail = find(bytes.slice(0, inner)) ?? inner;
        return tail < bytes.length ? start + pass.startOf(at(tail)) : whole;
      }),
    );
    return Math.min(plain(text.slice(0, whole)) ?? whole, plain(text) ?? whole, ...starts);
  };
}

/** Finds where the longest end of a text begins that is the beginning of one of these forms; null: there is none. */
function createTailFinder(forms: Iterable<string>): (text: string) => number | null {
  const byFirst = new Map<string, string[]>();
  let longest = 0;
  for (const form of new Set(forms)) {
    const first = form.charAt(0);
    byFirst.set(first, [...(byFirst.get(first) ?? []), form]);
    longest = Math.max(longest, form.length);
  }
  return (text) => {
    for (let from = Math.max(0, text.length - longest + 1); from < text.length; from++) {
      const same = byFirst.get(text.charAt(from));
      if (!same) continue;
      const end = text.slice(from);
      if (same.some((form) => form.length > end.length && form.startsWith(end))) return from;
    }
    return null;
  };
}
