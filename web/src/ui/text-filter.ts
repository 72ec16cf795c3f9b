/** Returns true if a text contains all typed words, ignoring case. */
export function matchesText(text: string, typed: string): boolean {
  const within = text.toLowerCase();
  return typed
    .toLowerCase()
    .split(/\s+/)
    .every((word) => within.includes(word));
}
