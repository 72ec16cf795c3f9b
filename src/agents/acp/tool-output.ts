import { storable } from '../../common/plain-text.ts';
import type { AgentUpdate, LongOutput } from '../agent.ts';
import { maxOutputCharacters } from './text-limits.ts';

/** The maximum number of characters that are retained from the start of an output: a file of 10 MiB has no more. */
const maxStartCharacters = 10 * 1_048_576;
/** The maximum number of characters that are retained from the start of all outputs of an agent together. */
export const maxRetainedCharacters = 12 * 1_048_576;
/** The number of characters that are retained from the end: those of an entry, and a secret that begins before them. */
const maxEndCharacters = maxOutputCharacters + 4_000;

/** The number of characters of a long output that count as one update while they wait to be written. */
const charactersOfUpdate = 262_144;

/** The output of a tool call, as far as it is retained. */
export interface ToolOutput {
  /** The same object for the same output. */
  readonly key: object;
  /** All of the output, or its first characters; empty: they are not retained. */
  readonly start: string;
  /** The last characters, if `start` is not all of the output. */
  readonly rest: string;
  readonly characters: number;
  /** In UTF-8; null: to be counted in `start`, which is all of the output. */
  readonly bytes: number | null;
}

/** The output of a call that has printed nothing. */
export const noOutput: ToolOutput = { key: {}, start: '', rest: '', characters: 0, bytes: 0 };

/** Creates the output that consists of this text. `room`: the number of characters that may still be retained. */
export function outputOf(text: string, room: number): ToolOutput {
  const start = startOf(text, room);
  const isAll = start.length === text.length;
  return {
    key: {},
    start,
    rest: isAll ? '' : detached(text.slice(-maxEndCharacters)),
    characters: text.length,
    bytes: isAll ? null : Buffer.byteLength(text),
  };
}

/** Adds text to an output. `room`: as for {@link outputOf}, without what this output retains already. */
export function extended(before: ToolOutput, text: string, room: number): ToolOutput {
  if (text === '') return before;
  const characters = before.characters + text.length;
  const bytes = (before.bytes ?? Buffer.byteLength(before.start)) + Buffer.byteLength(text);
  if (!hasAll(before)) {
    const rest = before.rest + text;
    // Not with each piece: agents may send one character at a time.
    const isMuch = rest.length > 2 * maxEndCharacters;
    return { ...before, key: {}, rest: isMuch ? detached(rest.slice(-maxEndCharacters)) : rest, characters, bytes };
  }
  const all = before.start + text;
  const start = startOf(all, room);
  const rest = start.length === all.length ? '' : detached(all.slice(-maxEndCharacters));
  return { key: {}, start, rest, characters, bytes };
}

/** Returns the output with its end alone: it has been reported. */
export function withoutStart(output: ToolOutput): ToolOutput {
  return output.start === '' ? output : { ...output, start: '', rest: endOf(output), bytes: bytesOf(output) };
}

/** Returns true if the output has more characters than an entry of the log. */
export function isLong({ characters }: ToolOutput): boolean {
  return characters > maxOutputCharacters;
}

/** Returns the last 16,000 characters. */
export function lastCharacters(output: ToolOutput): string {
  if (!isLong(output)) return storable(endOf(output));
  // It may begin with the second half of a character.
  return storable(
    detached(
      endOf(output)
        .slice(-maxOutputCharacters)
        .replace(/^[\uDC00-\uDFFF]/, ''),
    ),
  );
}

/** Returns what the log needs to store a long output. `isComplete`: see {@link LongOutput}. */
export function toLongOutput(output: ToolOutput, isComplete: boolean): LongOutput {
  const { key, start, characters } = output;
  const end = endOf(output);
  return { key, start: isComplete ? start : '', end, characters, bytes: isComplete ? bytesOf(output) : 0, isComplete };
}

/** Returns the number of updates as which one counts while it waits to be written: more than one with a long output. */
export function weightOf(update: AgentUpdate): number {
  const characters = update.type === 'toolCall' ? (update.long?.start.length ?? 0) : 0;
  return 1 + Math.floor(characters / charactersOfUpdate);
}

function hasAll({ start, characters }: ToolOutput): boolean {
  return start.length === characters;
}

function startOf(text: string, room: number): string {
  if (text.length > maxOutputCharacters && Math.min(text.length, maxStartCharacters) > room) return '';
  return text.length <= maxStartCharacters ? text : text.slice(0, maxStartCharacters).replace(/[\uD800-\uDBFF]$/, '');
}

function endOf({ start, rest }: ToolOutput): string {
  if (rest !== '') return rest.slice(-maxEndCharacters);
  return start.length <= maxEndCharacters ? start : detached(start.slice(-maxEndCharacters));
}

function bytesOf({ start, bytes }: ToolOutput): number {
  return bytes ?? Buffer.byteLength(start);
}

// A slice of a string keeps all of it in memory.
function detached(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}
