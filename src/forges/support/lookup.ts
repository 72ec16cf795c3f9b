/** Returns the value of a name that a forge sent; undefined for others, among them names that every object has, such as `constructor`. */
export function lookUp<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
