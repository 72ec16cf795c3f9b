/** The values of a form's fields, by name. An unchecked box has no value. */
export type Values = Readonly<Record<string, string>>;

/** Reads the current values of a form. */
export function valuesIn(form: HTMLFormElement): Values {
  return Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));
}

// Browsers normalize line ends.
const plain = (text: string | undefined) => (text ?? '').replace(/\r\n?/g, '\n');

/** The names of the fields with different values. */
export function differing(one: Values, other: Values): readonly string[] {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].filter((name) => plain(one[name]) !== plain(other[name]));
}
