import { optionLabel as texts } from '../texts/session-options.ts';
/** Names of the values of a switch. */
export const switchLabels: ReadonlyMap<string, string> = new Map([
  ['true', texts.on],
  ['false', texts.off],
]);

/** Returns the name of a value of an option. The agent defines the values: one may have any text. */
export function optionLabel(
  value: string,
  values: readonly { readonly value: string; readonly name: string }[],
): string {
  return values.find((each) => each.value === value)?.name ?? switchLabels.get(value) ?? value;
}

/** Returns the name of an option in sentence case, as all names here: "Session Mode" is "Session mode". Acronyms stay. */
export function optionTitle(name: string): string {
  const [first = '', ...rest] = name.split(' ');
  return [first, ...rest.map((word) => (/^[A-Z][a-z]+$/.test(word) ? word.toLowerCase() : word))].join(' ');
}
