import { formsOf } from './masked-forms.ts';

/**
 * Tells how much of a text may be stored while the rest of it is still to come: what it ends with may be the beginning of a
 * secret, in any of its forms, and would no longer be recognised in two pieces.
 */
export function createSafeLength(values: readonly string[]): (text: string) => number {
  const byFirst = new Map<string, string[]>();
  let longest = 0;
  for (const value of values) {
    for (const form of formsOf(value)) {
      const first = form.charAt(0);
      byFirst.set(first, [...(byFirst.get(first) ?? []), form]);
      longest = Math.max(longest, form.length);
    }
  }
  return (text) => {
    for (let from = Math.max(0, text.length - longest + 1); from < text.length; from++) {
      const forms = byFirst.get(text.charAt(from));
      if (!forms) continue;
      const end = text.slice(from);
      if (forms.some((form) => form.length > end.length && form.startsWith(end))) return from;
    }
    return text.length;
  };
}
