import type { FormProblem } from '../kit/kit.ts';

/** The service's validation errors, with paths relative to a part of a form. */
export type Problems = readonly FormProblem[];

const none: Problems = [];

/** The problems inside a part: of `actions`, `0` and so on. */
export function problemsIn(problems: Problems, ...parts: readonly (string | number)[]): Problems {
  if (problems.length === 0) return none;
  return problems.flatMap(({ message, path }) =>
    parts.every((part, n) => path?.[n] === String(part)) ? [{ message, path: path?.slice(parts.length) ?? [] }] : [],
  );
}

/** The problems of a field or anything inside it, as sentences; null: none. */
export function problemOf(problems: Problems, ...parts: readonly (string | number)[]): string | null {
  return sentences(problemsIn(problems, ...parts));
}

/** The problems of a part that none of these fields shows. */
export function problemBeside(problems: Problems, ...fields: readonly string[]): string | null {
  return sentences(problems.filter(({ path }) => !fields.includes(path?.[0] ?? '')));
}

function sentences(problems: Problems): string | null {
  return problems.length === 0 ? null : [...new Set(problems.map(({ message }) => message))].join(' ');
}
