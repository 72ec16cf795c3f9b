import { appendFileSync, closeSync, openSync, readSync, statSync } from 'node:fs';
import type { FileState } from '../file-states.ts';

/** The state of a path as text, without its time. */
export type PathState = string;

/** Returns a state as text. */
export function pathState({ kind, mode, content }: FileState): PathState {
  return `${kind} ${mode} ${content}`.trim();
}

/**
 * An entry of the journal that the agent of the proof keeps outside of its workspace. `at` is the time of day in ms. Paths begin
 * with `workspace/` or `home/` and are latin1.
 */
export type JournalEntry =
  /** The agent has started, with these files. */
  | {
      readonly type: 'start';
      readonly at: number;
      readonly pid: number;
      /** The id of the worker that runs it. */
      readonly worker: string;
      /** `new`: it has begun a session of its own. `loaded`: it continues one that its home has. */
      readonly how: 'new' | 'loaded';
      /** Steps of its own session that its home knows. */
      readonly steps: number;
      readonly states: Readonly<Record<string, PathState>>;
    }
  /** A tool call begins, which may change the paths below `touches`. `isLong`: their states in between are visible. */
  | {
      readonly type: 'begin';
      readonly at: number;
      readonly pid: number;
      readonly step: number;
      readonly name: string;
      readonly touches: readonly string[];
      readonly isLong: boolean;
    }
  /** A tool call is about to be reported as finished; it has changed these paths. Null: deleted. */
  | {
      readonly type: 'end';
      readonly at: number;
      readonly pid: number;
      readonly step: number;
      readonly changes: Readonly<Record<string, PathState | null>>;
    }
  /** A fact for the figures, such as a lock that an interrupted program left. */
  | { readonly type: 'note'; readonly at: number; readonly pid: number; readonly text: string };

/** Appends an entry. */
export function writeJournal(file: string, entry: JournalEntry): void {
  appendFileSync(file, `${JSON.stringify(entry)}\n`);
}

/** Reads the new entries of a growing journal at each call. */
export function createJournalReader(file: string): () => JournalEntry[] {
  let offset = 0;
  return () => {
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size <= offset) return [];
    const descriptor = openSync(file, 'r');
    const buffer = Buffer.alloc(size - offset);
    readSync(descriptor, buffer, 0, buffer.length, offset);
    closeSync(descriptor);
    // The last line may be incomplete.
    const end = buffer.lastIndexOf('\n') + 1;
    offset += end;
    return buffer.toString('utf8', 0, end).split('\n').flatMap(parseEntry);
  };
}

function parseEntry(line: string): JournalEntry[] {
  try {
    return line === '' ? [] : [JSON.parse(line) as JournalEntry];
  } catch {
    // The agent was killed while it wrote this line.
    return [];
  }
}
