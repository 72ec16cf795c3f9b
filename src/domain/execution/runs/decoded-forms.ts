import { type DecodedText, decode } from './decoded-text.ts';
import { toBytes } from './encoded-characters.ts';
import { formsOf, minMaskedLength } from './masked-forms.ts';
import { escapedGaps } from './projection.ts';

/** Text that was encoded more often is not decoded to its end. */
const maxPasses = 3;

/**
 * What is left out of decoded texts and forms, in bytes: line breaks with the indentation after them, which encoders put into long
 * lines; all white space, as in a secret with spaces a line break may stand for one, or beside one, that is then lost with it; or
 * line breaks that stay encoded, because a letter behind a backslash may also be the first of a secret.
 */
export const decodedGaps: readonly RegExp[] = [/[\r\n][ \t\r\n]*/g, /[ \t\r\n]+/g, escapedGaps];

/**
 * The forms of secrets as they read after decoding: as they are, and decoded themselves, for a secret may have what looks
 * encoded. In bytes, as {@link DecodedText}.
 */
export function decodedForms(values: readonly string[]): Set<string> {
  const forms = new Set<string>();
  for (const form of values.flatMap((value) => [...formsOf(value)])) {
    forms.add(toBytes(form).replaceAll('+', ' '));
    for (const { bytes } of decodings(form)) forms.add(bytes);
  }
  return forms;
}

/** Forms without gaps; those that are too short then are left out. */
export const bareForms = (forms: Iterable<string>, gaps: RegExp): string[] =>
  [...forms].map((form) => form.replaceAll(gaps, '')).filter((form) => form.length >= minMaskedLength);

/** A text decoded once, twice and so on, up to {@link maxPasses}; empty where nothing in it is encoded. */
export function decodings(text: string): DecodedText[] {
  const passes: DecodedText[] = [];
  for (let pass = decode(text); pass !== null && passes.length < maxPasses; ) {
    passes.push(pass);
    const inner = decode(pass.bytes, true);
    pass = inner === null ? null : composed(pass, inner);
  }
  return passes;
}

function composed(outer: DecodedText, inner: DecodedText): DecodedText {
  return {
    bytes: inner.bytes,
    startOf: (index) => outer.startOf(inner.startOf(index)),
    endOf: (index) => outer.endOf(inner.endOf(index) - 1),
    byteAt: (original) => inner.byteAt(outer.byteAt(original)),
  };
}
