import { writeNumber } from '../ui/number.ts';

/** The strings that a text contains, by name. */
export type Strings<Name extends string> = Readonly<Record<Name, string>>;

/** The numbers that a text contains, by name. */
export type Numbers<Name extends string> = Readonly<Record<Name, number>>;

/** The names in angle brackets: `<link>here</link>`. */
type TagsIn<Text extends string> = Text extends `${string}<${infer Name}>${infer Rest}`
  ? (Name extends `/${string}` ? never : Name) | TagsIn<Rest>
  : never;

/** The names in braces: `{time}`. */
type ValuesIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ValuesIn<Rest>
  : never;

/** A text with elements inside. `RichText` shows it. The names of its slots exist only as types. */
export interface Rich<Tag extends string, Value extends string> {
  readonly text: string;
  readonly tags?: Tag;
  readonly values?: Value;
}

/**
 * Makes a text with slots: `<link>here</link>` for an element around words, `{time}` for an element or a value. Text of users
 * belongs into a slot, never into the text itself.
 */
export const rich = <const Text extends string>(text: Text): Rich<TagsIn<Text>, ValuesIn<Text>> => ({ text });

const rules = new Intl.PluralRules('en');

/** Selects the form for a number. Its digits replace `#`. */
export function plural(
  count: number,
  forms: Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }>,
  digits = writeNumber(count),
): string {
  return (forms[rules.select(count)] ?? forms.other).replace('#', digits);
}
