import type { CallUsage } from './providers.ts';
import { type UsageDocument, UsageScanner } from './usage-scanner.ts';

/** Reads a response chunk by chunk and returns the usage of the call. Never throws. */
export interface UsageReader {
  take(chunk: Uint8Array): void;
  total(): CallUsage;
  /** The id of the model that answers, in the provider's words; null: not stated. */
  model(): string | null;
  /** The number of buffered bytes of the response, between two chunks. */
  bufferedBytes(): number;
}

/** The usage of a call without any data. */
export const unknownUsage: CallUsage = {
  inputTokens: null,
  outputTokens: null,
  cachedTokens: null,
};

const [lineFeed, carriageReturn] = [0x0a, 0x0d];
/** The event field that holds its JSON. */
const dataField = [...Buffer.from('data:')];
/** May precede the first event, and is not part of it. */
const byteOrderMark = [...Buffer.from('\ufeff')];

/**
 * Creates a reader for a stream of server-sent events (`isStream`) or one JSON text. Its work is linear in the
 * response's length.
 */
export function createUsageReader(
  isStream: boolean,
  readUsage: (json: UsageDocument) => CallUsage | null,
): UsageReader {
  let usage = unknownUsage;
  let model: string | null = null;
  const scanner = new UsageScanner(
    (found) => {
      const used = readUsage(found);
      if (used) usage = later(usage, used);
    },
    (found) => {
      model ??= found;
    },
  );
  const takeByte = isStream ? eventReader(scanner) : (byte: number) => scanner.take(byte);
  return {
    take(chunk) {
      const { length } = chunk;
      for (let at = 0; at < length; at++) takeByte(chunk[at] as number);
    },
    total: () => usage,
    model: () => model,
    bufferedBytes: () => scanner.bufferedBytes,
  };
}

// Passes the data of each event to the scanner. Several data lines of an event form one text; an empty line ends the
// event.
function eventReader(scanner: UsageScanner): (byte: number) => void {
  /** The number of bytes of the line that match the field's name so far; null: it is another field. */
  let matched: number | null = 0;
  let isLineEmpty = true;
  let wasCarriageReturn = false;
  /** The number of bytes of the mark that have been read; null: the stream is past its beginning. */
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

// Figures of a stream only grow: those at the start (Anthropic's input) and those at the end are combined.
function later(a: CallUsage, b: CallUsage): CallUsage {
  return {
    inputTokens: larger(a.inputTokens, b.inputTokens),
    outputTokens: larger(a.outputTokens, b.outputTokens),
    cachedTokens: larger(a.cachedTokens, b.cachedTokens),
    ...largest('writtenTokens', a, b),
    ...largest('longWrittenTokens', a, b),
    ...largest('costUsd', a, b),
  };
}

function larger(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}

function largest(
  name: 'writtenTokens' | 'longWrittenTokens' | 'costUsd',
  a: CallUsage,
  b: CallUsage,
): Partial<CallUsage> {
  const value = larger(a[name] ?? null, b[name] ?? null);
  return value === null ? {} : { [name]: value };
}
