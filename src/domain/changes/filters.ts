/** Members of a filter that may be left out; null says the same. */
export type Maybe<T> = { readonly [K in keyof T]?: T[K] | null | undefined };

/** True if something was made at or after the first of two times and before the second. */
export function isWithin(
  { createdAfter, createdBefore }: Maybe<{ createdAfter: Date; createdBefore: Date }>,
  createdAt: Date,
): boolean {
  return (createdAfter == null || createdAt >= createdAfter) && (createdBefore == null || createdAt < createdBefore);
}
