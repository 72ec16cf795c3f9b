import type { CallUsage } from './providers.ts';
import { type UsageDocument, UsageScanner } from './usage-scanner.ts';

/** Reads along with a response, chunk by chunk, and gives what the call used. Never throws. */
export interface UsageReader {
  take(chunk: Uint8Array): void;
  total(): CallUsage;
  /** Bytes of the response that are in memory, between two chunks. */
  bufferedBytes(): number;
}

/** The usage of a call of which nothing is known. */
export const unknownUsage: CallUsage = { inputTokens: null, outputTokens: null, cachedTokens: null };

const [lineFeed, carriageReturn] = [0x0a, 0x0d];
/** The field of an event that holds its JSON. */
const dataField = [...Buffer.from('data:')];
/** May stand before the first event, and is no part of it. */
const byteOrderMark = [...Buffer.from('\ufeff')];

/** A reader for a stream of server-sent events (`isStream`) or one JSON text. Its work is linear in the response's length. */
export function createUsageReader(
  isStream: boolean,
  readUsage: (json: UsageDocument) => CallUsage | null,
): UsageReader {
  let usage = unknownUsage;
  const scanner = new UsageScanner((found) => {
    const used = readUsage(found);
    if (used) usage = later(usage, used);
  });
  const takeByte = isStream ? eventReader(scanner) : (byte: number) => scanner.take(byte);
  return {
    take(chunk) {
      const { length } = chunk;
      for (let at = 0; at < length; at++) takeByte(chunk[at] as number);
    },
    total: () => usage,
    bufferedBytes: () => scanner.bufferedBytes,
  };
}

// Gives the scanner the data of each event. Several data lines of an event are one text; an empty line ends the event.
function eventReader(scanner: UsageScanner): (byte: number) => void {
  /** How many bytes of the line are those of the field's name so far; null: it is another field. */
  let matched: number | null = 0;
  let isLineEmpty = true;
  let wasCarriageReturn = false;
  /** How many bytes of the mark have come; null: the stream is behind its beginning. */
  let marked: number | null = 0;
  return (byte) => {
    if (marked !== null && byte === byteOrderMark[marked]) {
      marked += 1;
      return;
    }
    marked = null;
    const isSecondOfTwo = wasCarriageReturn && byte === lineFeed;
    wasCarriageReturn = byte === carriageReturn;
    if (isSecondOfTwo) return;
    if (byte === lineFeed || byte === carriageReturn) {
      if (isLineEmpty) scanner.reset();
      matched = 0;
      isLineEmpty = true;
      return;
    }
    isLineEmpty = false;
    if (matched === dataField.length) scanner.take(byte);
    else if (matched !== null) matched = byte === dataField[matched] ? matched + 1 : null;
  };
}

// Figures of a stream only grow: what is said in the beginning (Anthropic's input) and in the end belongs together.
function later(a: CallUsage, b: CallUsage): CallUsage {
  return {
    inputTokens: larger(a.inputTokens, b.inputTokens),
    outputTokens: larger(a.outputTokens, b.outputTokens),
    cachedTokens: larger(a.cachedTokens, b.cachedTokens),
  };
}

function larger(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}
