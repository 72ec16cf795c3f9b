/** Optional members of a filter; null means omitted. */
export type Maybe<T> = { readonly [K in keyof T]?: T[K] | null | undefined };

/** True if an object was created at or after the first of two times and before the second. */
export function isWithin(
  { createdAfter, createdBefore }: Maybe<{ createdAfter: Date; createdBefore: Date }>,
  createdAt: Date,
): boolean {
  return (createdAfter == null || createdAt >= createdAfter) && (createdBefore == null || createdAt < createdBefore);
}
