import { z } from 'zod';
import { invalidInput } from '../common/errors.ts';
import { withLimits } from './value-limits.ts';

/**
 * Text that PostgreSQL can store: no NUL character, no lone surrogate. The messages name the value as we call it; an
 * API with other names replaces the quoted one. Limits are in characters; a text of
 * spaces and other invisible characters counts as its length unless `isBlankRefused` is set, which is for names and for
 * texts that an agent acts on.
 */
export function text(
  name: string,
  limits: { readonly min?: number; readonly max: number; readonly isBlankRefused?: boolean },
): z.ZodType<string, string> {
  const { min = 0, isBlankRefused = false } = limits;
  const schema = z.string({ error: `"${name}" must be a text.` }).check((check) => {
    const value = check.value;
    const fail = (message: string) => check.issues.push({ code: 'custom', message, input: value });
    if (value.length < min || (isBlankRefused && isBlank(value))) fail(`"${name}" must not be empty.`);
    else if (value.length > limits.max) {
      fail(`"${name}" must be at most ${limits.max} characters, but has ${value.length}.`);
    } else if (!isStorable(value)) {
      fail(`"${name}" must be Unicode text without NUL characters and lone surrogates.`);
    }
  });
  return withLimits(schema, { minLength: min, maxLength: limits.max });
}

// U+2800 is a Braille pattern without dots. Unicode lists the others, such as U+3164 HANGUL FILLER.
const isBlank = (value: string) => /^[\s\u2800\p{Default_Ignorable_Code_Point}]*$/u.test(value);

/** Maximum length of the title of a session or a playbook, and of the name of a note, in characters. */
export const maxTitleLength = 10_000;

/** A whole number of ACUs up to 2^53 - 1, the largest integer that JSON numbers hold exactly. */
export const wholeAcus = (name: string) =>
  z.int({
    error: ({ code }) =>
      code === 'too_big' ? `"${name}" must be at most ${Number.MAX_SAFE_INTEGER}.` : `"${name}" must be an integer.`,
  });

/**
 * Tells if PostgreSQL can store a JSON value: {@link text} for every string and every member name in it, at any depth.
 */
export function isStorable(json: unknown): boolean {
  const open: unknown[] = [json];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === 'string' && (value.includes('\u0000') || !value.isWellFormed())) return false;
    if (value === null || typeof value !== 'object') continue;
    for (const [name, inner] of Object.entries(value)) open.push(name, inner);
  }
  return true;
}

/** Parses an input by the domain's rules; throws INVALID_INPUT with one issue per problem, its path below `at`. */
export function parseInput<T>(schema: z.ZodType<T>, input: unknown, at: readonly string[] = []): T {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  throw invalidInput(
    result.error.issues.map((issue) => ({ path: [...at, ...issue.path.map(String)], message: issue.message })),
  );
}
