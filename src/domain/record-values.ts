import type { z } from 'zod';
import { canonicalJson } from './idempotency.ts';

/** The values of an input with null for each omitted one. */
export type WithNulls<T> = { [K in keyof T]-?: undefined extends T[K] ? Exclude<T[K], undefined> | null : T[K] };

/**
 * Returns the members of a checked input that the schema names, as the values of a new record: null for each omitted
 * one.
 */
export function withNulls<S extends z.ZodObject>(schema: S, input: z.output<S>): WithNulls<z.output<S>> {
  const values = input as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.keys(schema.shape).map((name) => [name, values[name] ?? null])) as WithNulls<
    z.output<S>
  >;
}

/**
 * Returns the members of a change that differ from the record's, in the record's order. An omitted (or undefined)
 * member does not change.
 */
export function changedValues<T extends object, C extends { readonly [K in keyof T]?: T[K] | undefined }>(
  before: T,
  change: C,
): Partial<Pick<T, keyof C & keyof T>> {
  const wanted = change as Partial<T>;
  const names = (Object.keys(before) as (keyof C & keyof T)[]).filter(
    (name) => wanted[name] !== undefined && canonicalJson(wanted[name]) !== canonicalJson(before[name]),
  );
  return Object.fromEntries(names.map((name) => [name, wanted[name]])) as Partial<Pick<T, keyof C & keyof T>>;
}
