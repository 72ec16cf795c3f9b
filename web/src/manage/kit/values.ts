/** What stands in the fields of a form, by their names. A box that is not ticked has no value. */
export type Values = Readonly<Record<string, string>>;

/** What stands in a form now. */
export function valuesIn(form: HTMLFormElement): Values {
  return Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));
}

// Browsers write the ends of lines in their own way.
const plain = (text: string | undefined) => (text ?? '').replace(/\r\n?/g, '\n');

/** The names of the fields that do not say the same. */
export function differing(one: Values, other: Values): readonly string[] {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].filter((name) => plain(one[name]) !== plain(other[name]));
}
