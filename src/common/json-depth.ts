/**
 * Maximum depth of the JSON of a request. Parsing time grows with the depth: 1 MiB of brackets would block for 0.4 s.
 */
export const maxJsonDepth = 128;

const [quote, backslash, openBracket, closeBracket, openBrace, closeBrace] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/** Returns true if a JSON text nests deeper than `max` levels, without parsing it. Takes time linear in the text; never throws. */
export function nestsDeeper(json: string, max: number = maxJsonDepth): boolean {
  return deepParts(json, max).next().done !== true;
}

/** Returns a JSON text with null instead of each array and object that is deeper than `max` levels. */
export function withoutDepth(json: string, max: number = maxJsonDepth): string {
  let text = '';
  let done = 0;
  for (const [from, to] of deepParts(json, max)) {
    text += `${json.slice(done, from)}null`;
    done = to;
  }
  return text + json.slice(done);
}

/** Yields the ranges of the arrays and objects at the first level that is too deep. */
function* deepParts(json: string, max: number): Generator<readonly [from: number, to: number]> {
  let depth = 0;
  let from = -1;
  for (let index = 0; index < json.length; index++) {
    const code = json.charCodeAt(index);
    if (code === quote) index = endOfString(json, index);
    else if (code === openBracket || code === openBrace) {
      depth++;
      if (depth === max + 1) from = index;
    } else if (code === closeBracket || code === closeBrace) {
      if (depth === max + 1) yield [from, index + 1];
      depth--;
    }
  }
  if (depth > max) yield [from, json.length];
}

// Returns the index of the quote that ends a string; the end of the text if there is none.
function endOfString(json: string, start: number): number {
  let end = json.indexOf('"', start + 1);
  while (end > 0 && isEscaped(json, end)) end = json.indexOf('"', end + 1);
  return end < 0 ? json.length : end;
}

function isEscaped(json: string, index: number): boolean {
  let before = index;
  while (json.charCodeAt(before - 1) === backslash) before--;
  return (index - before) % 2 === 1;
}
