import { z } from 'zod';
import { invalidInput } from './errors.ts';

/**
 * Text that PostgreSQL can store: no NUL character, no lone surrogate. The messages name the value as we call it; a door
 * that has other names replaces the quoted one.
 */
export function text(name: string, limits: { min?: number; max: number }): z.ZodType<string, string> {
  const min = limits.min ?? 0;
  return z.string({ error: `"${name}" must be a text.` }).check((check) => {
    const value = check.value;
    const fail = (message: string) => check.issues.push({ code: 'custom', message, input: value });
    if (value.length < min || (min > 0 && value.trim() === '')) fail(`"${name}" must not be empty.`);
    else if (value.length > limits.max) {
      fail(`"${name}" must be at most ${limits.max} characters, but has ${value.length}.`);
    } else if (!isStorable(value)) {
      fail(`"${name}" must be Unicode text without NUL characters and lone surrogates.`);
    }
  });
}

/** Whether PostgreSQL can store a JSON value: as {@link text}, for every text and every name in it, at any depth. */
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

/** Parses an input by the domain's rules; INVALID_INPUT with one issue per complaint. */
export function parseInput<T>(schema: z.ZodType<T>, input: unknown): T {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  throw invalidInput(result.error.issues.map((issue) => ({ path: issue.path.map(String), message: issue.message })));
}
