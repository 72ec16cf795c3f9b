/**
 * Parses an absolute URL, or one relative to `base`; null for invalid text. `URL.canParse` cannot be used: in Node 20 it treats letters such as
 * "ü" as invalid once V8 has optimized the caller.
 */
export function parseUrl(text: string, base?: URL): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}
