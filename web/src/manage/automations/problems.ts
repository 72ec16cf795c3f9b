import type { FormProblem } from '../kit/kit.ts';

/** What the service found wrong, with paths that begin at the part of a form that they are given to. */
export type Problems = readonly FormProblem[];

const none: Problems = [];

/** What is wrong inside of a part: of `actions`, `0` and so on. */
export function problemsIn(problems: Problems, ...parts: readonly (string | number)[]): Problems {
  if (problems.length === 0) return none;
  return problems.flatMap(({ message, path }) =>
    parts.every((part, n) => path?.[n] === String(part)) ? [{ message, path: path?.slice(parts.length) ?? [] }] : [],
  );
}

/** What is wrong with a field, or anywhere inside of it, in sentences; null: nothing. */
export function problemOf(problems: Problems, ...parts: readonly (string | number)[]): string | null {
  return sentences(problemsIn(problems, ...parts));
}

/** What is wrong with a part that none of its fields shows, by their names. */
export function problemBeside(problems: Problems, ...fields: readonly string[]): string | null {
  return sentences(problems.filter(({ path }) => !fields.includes(path?.[0] ?? '')));
}

function sentences(problems: Problems): string | null {
  return problems.length === 0 ? null : [...new Set(problems.map(({ message }) => message))].join(' ');
}
