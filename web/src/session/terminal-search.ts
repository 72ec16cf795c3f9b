import type { TerminalRun } from './terminal-screen.ts';

/** A part of a line: characters with one style that are found or not. */
export interface MarkedRun extends TerminalRun {
  readonly isMatch: boolean;
}

/** Returns the text of a line. */
export const textOf = (runs: readonly TerminalRun[]): string => runs.map(({ text }) => text).join('');

/** Returns the positions in a text at which a lower-case query begins, without overlaps. */
function positionsOf(text: string, query: string): readonly number[] {
  const positions: number[] = [];
  const lower = text.toLowerCase();
  // Some letters have a longer lower-case form, which moves all positions after them.
  if (query === '' || lower.length !== text.length) return positions;
  for (let at = lower.indexOf(query); at >= 0; at = lower.indexOf(query, at + query.length)) positions.push(at);
  return positions;
}

/** Returns true if a text contains a lower-case query. */
export const isFound = (text: string, query: string): boolean => positionsOf(text, query).length > 0;

/** Divides the runs of a line where a lower-case query begins and ends. A match may span runs of several styles. */
export function markRuns(runs: readonly TerminalRun[], query: string): readonly MarkedRun[] {
  const positions = positionsOf(textOf(runs), query);
  const marked: MarkedRun[] = [];
  let start = 0;
  for (const { text, style } of runs) {
    const end = start + text.length;
    const bounds = new Set(positions.flatMap((at) => [at, at + query.length]));
    const cuts = [...bounds].filter((at) => at > start && at < end).map((at) => at - start);
    for (const [index, from] of [0, ...cuts].entries()) {
      const at = start + from;
      const isMatch = positions.some((position) => at >= position && at < position + query.length);
      marked.push({ text: text.slice(from, cuts[index]), style, isMatch });
    }
    start = end;
  }
  return marked;
}
