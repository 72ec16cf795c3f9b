import type { EnumRef } from '@pothos/core';
import { builder, type SchemaTypes } from '../builder.ts';
import { enumName } from '../enum-name.ts';

/** Defines an enum by the meaning of each of the domain's words. Its values are the words in upper snake case. */
export function defineEnum<T extends string>(
  name: string,
  description: string,
  meanings: Readonly<Record<T, string>>,
): EnumRef<SchemaTypes, T> {
  const values = (Object.entries(meanings) as [T, string][]).map(
    ([value, meaning]) => [enumName(value), { value, description: meaning }] as const,
  );
  return builder.enumType(name, { description, values: Object.fromEntries(values) }) as EnumRef<SchemaTypes, T>;
}

/** The meanings of the words in one of the domain's tables, for {@link defineEnum}. */
export const meaningsOf = <T extends string>(
  table: Readonly<Record<T, { readonly meaning: string }>>,
  describe = (meaning: string) => meaning,
): Readonly<Record<T, string>> =>
  Object.fromEntries(
    Object.entries<{ readonly meaning: string }>(table).map(([word, { meaning }]) => [word, describe(meaning)]),
  ) as Record<T, string>;

/** An enum of words that are stored in log entries, with their {@link readerOf}. */
export function storedEnum<const T extends string>(
  name: string,
  description: string,
  meanings: Readonly<Record<T, string>>,
) {
  return { type: defineEnum(name, description, meanings), read: readerOf(Object.keys(meanings) as T[]) };
}

/**
 * Returns a reader of stored words: an unknown word gives null. Agents, and later versions of the service, may have
 * written other words.
 */
export const readerOf =
  <T extends string>(values: readonly T[]) =>
  (stored: unknown): T | null =>
    values.find((value) => value === stored) ?? null;
