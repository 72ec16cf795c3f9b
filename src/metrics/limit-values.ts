const otherValue = 'other';

/** Creates a function that returns the first `max` different values unchanged, and "other" for all further ones. */
export function limitValues(max: number): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (known.has(value)) return value;
    if (known.size >= max) return otherValue;
    known.add(value);
    return value;
  };
}
