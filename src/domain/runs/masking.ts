/** Values shorter than this would blot out ordinary words. */
const shortestMasked = 6;

/**
 * A function that blots out secrets in text, as they are, in base64 and URL-encoded. It must be given joined text: a
 * secret that straddles two chunks is only seen in the whole.
 */
export function createMask(values: readonly string[]): (text: string) => string {
  const forms = new Set<string>();
  for (const value of values) {
    if (value.length < shortestMasked) continue;
    forms.add(value);
    forms.add(Buffer.from(value).toString('base64').replace(/=+$/, ''));
    forms.add(Buffer.from(value).toString('base64url'));
    forms.add(encodeURIComponent(value.toWellFormed()));
    forms.add(JSON.stringify(value).slice(1, -1));
  }
  // Longest first, so that a secret that contains another is blotted out whole.
  const ordered = [...forms].sort((a, b) => b.length - a.length);
  return (text) => ordered.reduce((masked, form) => masked.replaceAll(form, '********'), text);
}

/** {@link createMask}'s function on every string inside a value. */
export function maskDeep<T>(value: T, mask: (text: string) => string): T {
  if (typeof value === 'string') return mask(value) as T;
  if (Array.isArray(value)) return value.map((item: unknown) => maskDeep(item, mask)) as T;
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, maskDeep(inner, mask)])) as T;
}
