/** Object ids of PostgreSQL's built-in types (pg_type.dat) whose values the two drivers would return differently. */
const oids = { int8: 20, int8Array: 1016, date: 1082, timestamp: 1114, interval: 1186 } as const;

const text = (value: string) => value;

/**
 * Parsers of values, for both drivers, where their own differ: int8 is always a count or a sum, so a number; types
 * without a time zone stay text, since each driver would assume another zone.
 */
export const valueParsers: Readonly<Record<number, (value: string) => unknown>> = {
  [oids.int8]: Number,
  [oids.int8Array]: (value) => (value === '{}' ? [] : value.slice(1, -1).split(',').map(Number)),
  [oids.date]: text,
  [oids.timestamp]: text,
  [oids.interval]: text,
};

/**
 * Converts a value for both drivers: times to ISO text in UTC (node-postgres would write local time), undefined to
 * null.
 */
export function toParameter(value: unknown): unknown {
  if (value === undefined) return null;
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return value.map(toParameter);
  return value;
}
