import { playbookValues as texts } from '../texts/playbook-values.ts';

/** A placeholder: a name in two braces. `${{ … }}`, the form of workflows and shells, is none. */
const placeholder = /(?<!\$)\{\{ ?([\p{L}\p{N}_](?:[\p{L}\p{N}_ -]{0,38}[\p{L}\p{N}_])?) ?\}\}/gu;

/** The maximum number of placeholders that are asked for. */
const maxPlaceholders = 20;

/** The names of the placeholders in the text of a playbook, each once and in order; at most 20. */
export function placeholdersIn(text: string): readonly string[] {
  const names = new Set([...text.matchAll(placeholder)].map(([, name = '']) => name));
  return [...names].slice(0, maxPlaceholders);
}

/** Adds the values of placeholders to a prompt, a line for each. Values without text are left out. */
export function withValues(prompt: string, values: readonly (readonly [name: string, value: string])[]): string {
  const lines = values.flatMap(([name, value]) => (value.trim() ? [texts.value({ name, value: value.trim() })] : []));
  if (lines.length === 0) return prompt;
  return [...(prompt ? [prompt, ''] : []), texts.intro, '', ...lines].join('\n');
}
