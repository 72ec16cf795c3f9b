// Matches one token of valid JSON: a string or a punctuator.
const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

/**
 * Finds an invalid member name in a valid JSON text; returns a sentence about it, or null. A name must not occur twice
 * in one object: parsers disagree on which one counts, so sender and receiver could read different values. `__proto__`
 * is refused because it would change an object's prototype.
 */
export function findNameProblem(json: string): string | null {
  const open: (Set<string> | null)[] = [];
  let last: string | null = null;
  for (const [part] of json.matchAll(token)) {
    if (part === '{') open.push(new Set());
    else if (part === '[') open.push(null);
    else if (part === '}' || part === ']') open.pop();
    else if (part === ':' && last !== null) {
      const name = JSON.parse(last) as string;
      if (name === '__proto__') return 'The body must not have the name "__proto__".';
      const names = open.at(-1);
      if (names?.has(name)) return `The body must not have a name twice in one object, but has ${last.slice(0, 80)}.`;
      names?.add(name);
    }
    last = part.startsWith('"') ? part : null;
  }
  return null;
}
