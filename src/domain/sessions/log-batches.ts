import type { LogEntry } from './log.ts';

/** Entries read at once for one subscriber: few at first, and more while they are short. */
export const batchSizes = { first: 10, max: 100 } as const;
/** Characters of one batch, though one entry may have more: what a slow subscriber holds in memory. */
const maxCharacters = 512 * 1_024;

/** As many entries from the start as make a batch, at least one. */
export function upTo(entries: readonly LogEntry[]): readonly LogEntry[] {
  let characters = 0;
  for (const [n, { body, data }] of entries.entries()) {
    characters += (body?.length ?? 0) + (data === null ? 0 : JSON.stringify(data).length);
    if (characters > maxCharacters && n > 0) return entries.slice(0, n);
  }
  return entries;
}
