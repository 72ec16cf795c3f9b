import { nestsDeeper } from '../../../common/json-depth.ts';

/** Only the end of a longer text is searched: the answer is at the end. */
const maxCharacters = 300_000;
/**
 * Maximum number of characters that the search for objects examines in all: unbalanced braces would make it quadratic.
 */
const maxSteps = 5_000_000;

const fence = /```[ \t]*(?:json|JSON)?[ \t]*\r?\n([\s\S]*?)```/g;

/**
 * Returns the JSON results in a message, best first: its last fenced block that is JSON, its last balanced object. For
 * agents that report by their text alone.
 */
export function readOutputs(message: string): unknown[] {
  const text = message.slice(-maxCharacters);
  const fenced = [...text.matchAll(fence)].map(([, inner]) => parse(inner as string)).filter(isCompound);
  const found = [fenced.at(-1), lastObject(text)].filter(isCompound);
  const [first, second] = found;
  return JSON.stringify(first) === JSON.stringify(second) ? found.slice(0, 1) : found;
}

function lastObject(text: string): unknown {
  let last: unknown;
  let steps = 0;
  for (let from = text.indexOf('{'); from >= 0 && steps < maxSteps; ) {
    const end = endOfObject(text, from);
    steps += (end ?? text.length) - from;
    const value = end === null ? undefined : parse(text.slice(from, end));
    if (value !== undefined) last = value;
    from = text.indexOf('{', value === undefined || end === null ? from + 1 : end);
  }
  return last;
}

/** Returns the end of the object that begins at `from`; null: it is not complete. */
function endOfObject(text: string, from: number): number | null {
  let depth = 0;
  let isString = false;
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (isString) {
      if (character === '\\') at++;
      else if (character === '"') isString = false;
    } else if (character === '"') isString = true;
    else if (character === '{') depth++;
    else if (character === '}' && --depth === 0) return at + 1;
  }
  return null;
}

function parse(text: string): unknown {
  if (nestsDeeper(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isCompound(value: unknown): boolean {
  return value !== null && typeof value === 'object';
}
