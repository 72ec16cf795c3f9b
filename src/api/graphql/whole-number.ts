/** The largest value of the Int type of GraphQL. */
const maxInt = 2_147_483_647;

/** Converts a limit to a GraphQL Int: larger values become the largest Int. REST shows the exact value. */
export function toInt(limit: number): number;
/** {@link toInt} that keeps null. */
export function toInt(limit: number | null): number | null;
export function toInt(limit: number | null): number | null {
  return limit === null ? null : Math.min(limit, maxInt);
}
