// One token of JSON that has been parsed already: a text, or something that opens, closes or parts.
const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

/**
 * What is wrong with the names in a JSON text that can be parsed, in a sentence; null: nothing is. Parsers disagree on a name
 * that comes twice in one object, so that a sender and whoever reads may not mean the same; `__proto__` is what objects are
 * made of, and no name.
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
