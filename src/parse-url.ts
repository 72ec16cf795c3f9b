/**
 * An absolute URL, or null for a text that is not one. `URL.canParse` can't be used: in Node 20 it takes letters such as "ü" for
 * invalid as soon as V8 has optimized the caller.
 */
export function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
