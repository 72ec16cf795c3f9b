/** The largest value of the Int type of GraphQL. */
const maxInt = 2_147_483_647;

/** A limit as a GraphQL Int: one above the largest Int is shown as that. REST shows it exactly. */
export function toInt(limit: number): number;
/** See above; null stays null. */
export function toInt(limit: number | null): number | null;
export function toInt(limit: number | null): number | null {
  return limit === null ? null : Math.min(limit, maxInt);
}
