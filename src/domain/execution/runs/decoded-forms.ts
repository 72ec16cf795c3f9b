import { type DecodedText, decode } from './decoded-text.ts';
import { toBytes } from './encoded-characters.ts';
import { formsOf, minMaskedLength } from './masked-forms.ts';
import { escapedGaps } from './projection.ts';

/** Maximum number of decoding passes; text that was encoded more often is not decoded completely. */
const maxPasses = 3;

/**
 * The gaps that are removed from decoded texts and forms, in bytes: line breaks with the indentation after them, which
 * encoders insert into long lines; all white space, because in a secret with spaces a line break may replace a space or
 * swallow one beside it; or line breaks that stay encoded, because a letter after a backslash may also be the first of
 * a secret.
 */
export const decodedGaps: readonly RegExp[] = [/[\r\n][ \t\r\n]*/g, /[ \t\r\n]+/g, escapedGaps];

/**
 * Returns the decoded forms of secrets: as they are, and decoded themselves, because a secret may look encoded. In
 * bytes, as {@link DecodedText}.
 */
export function decodedForms(values: readonly string[]): Set<string> {
  const forms = new Set<string>();
  for (const form of values.flatMap((value) => [...formsOf(value)])) {
    forms.add(toBytes(form).replaceAll('+', ' '));
    for (const { bytes } of decodings(form)) forms.add(bytes);
  }
  return forms;
}

/** Returns the forms without gaps, except those that become too short. */
export const bareForms = (forms: Iterable<string>, gaps: RegExp): string[] =>
  [...forms].map((form) => form.replaceAll(gaps, '')).filter((form) => form.length >= minMaskedLength);

/** Decodes a text once, twice and so on, up to {@link maxPasses}; empty if nothing in it is encoded. */
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
