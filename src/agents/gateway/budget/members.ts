/** A JSON object of a request. */
export type Json = Record<string, unknown>;

/** A call that a key with a budget cannot pay for. `message`: the reason, as the second half of a sentence. */
export class UnboundedCallError extends Error {
  override readonly name = 'UnboundedCallError';
}

/** Refuses a call because of one of its members. */
export function refuseMember(name: string): never {
  throw new UnboundedCallError(`a call with "${name}" is not passed on: its cost cannot be limited`);
}

/** Returns a value if it is an object, and not a list; null otherwise. */
export function objectOf(value: unknown): Json | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
}

const plain = (name: string) => name.replaceAll('_', '').toLowerCase();

/**
 * Returns the name of a member as the object spells it; null: it is missing. Servers differ in the spellings that they accept:
 * a call in another spelling than those of `names`, or in two, is refused.
 */
export function spelledName(object: Json, ...names: readonly string[]): string | null {
  const plainNames = names.map(plain);
  const found = Object.keys(object).filter((name) => plainNames.includes(plain(name)));
  const [name, second] = found;
  if (name === undefined) return null;
  if (second !== undefined || !names.includes(name)) refuseMember(second ?? name);
  return name;
}

/** Returns the value of a member by {@link spelledName}; undefined: it is missing or null. */
export function memberOf(object: Json, ...names: readonly string[]): unknown {
  const name = spelledName(object, ...names);
  return name === null ? undefined : (object[name] ?? undefined);
}

/** Returns a member that must be a whole number; null: it is missing. Zero and less mean "no limit" for some servers. */
export function countOf(object: Json, ...names: readonly string[]): number | null {
  const value = memberOf(object, ...names);
  if (value === undefined) return null;
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) refuseMember(names[0] as string);
  return value <= 0 ? null : value;
}

/** Returns a member that must be a list; an empty list if it is missing. */
export function listOf(object: Json, ...names: readonly string[]): readonly unknown[] {
  const value = memberOf(object, ...names);
  if (value === undefined) return [];
  if (!Array.isArray(value)) refuseMember(names[0] as string);
  return value as readonly unknown[];
}
