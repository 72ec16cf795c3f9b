/** The orders of the list, as the service takes them. */
export const orders = {
  newest: { field: 'CREATED_AT', direction: 'DESC' },
  updated: { field: 'UPDATED_AT', direction: 'DESC' },
} as const;

/** A name of {@link orders}. */
export type Order = keyof typeof orders;

/** The query parameter with the order; empty: newest first. */
export const sortNames = ['sort'] as const;

/** Returns the order of a query parameter. Unknown values are ignored. */
export const orderOf = (value: string): Order => (Object.hasOwn(orders, value) ? (value as Order) : 'newest');
