/** The kinds of drafts. */
export const draftKinds = ['message', 'thought', 'tool_output'] as const;
/** See {@link draftKinds}. */
export type DraftKind = (typeof draftKinds)[number];

/** A part of a draft, from the worker that runs the session. */
export interface DraftMessage {
  /** The claim of the session by which it is sent. */
  readonly generation: number;
  readonly draftId: string;
  readonly kind: DraftKind;
  readonly toolCallId: string | null;
  /** Counts how often the text was replaced: a tool may report other output than before. */
  readonly version: number;
  /** Position of the text in the draft, in UTF-16 code units. */
  readonly offset: number;
  readonly text: string;
  /** True for the last part. */
  readonly isDone: boolean;
  /** True if parts before the offset are not sent, because the draft is long. */
  readonly isTruncated: boolean;
}

/** Maximum length of the id of a tool call whose output is a draft: it is part of each message. */
export const maxToolCallIdLength = 200;

/** Writes a message as one line. */
export function writeDraftMessage(message: DraftMessage): string {
  const { generation, draftId, kind, toolCallId, version, offset, text, isDone, isTruncated } = message;
  const flags = (isDone ? 1 : 0) + (isTruncated ? 2 : 0);
  return JSON.stringify([generation, draftId, draftKinds.indexOf(kind), toolCallId, version, offset, flags, text]);
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** Reads a message; null if it is malformed. */
export function readDraftMessage(payload: string): DraftMessage | null {
  let fields: unknown;
  try {
    fields = JSON.parse(payload);
  } catch {
    return null;
  }
  if (!Array.isArray(fields) || fields.length !== 8) return null;
  const [generation, draftId, kindIndex, toolCallId, version, offset, flags, text] = fields as unknown[];
  const kind = isCount(kindIndex) ? draftKinds[kindIndex] : undefined;
  if (!isCount(generation) || !isCount(version) || !isCount(offset) || !isCount(flags) || kind === undefined)
    return null;
  if (typeof draftId !== 'string' || !/^[0-9a-f]{32}$/.test(draftId) || typeof text !== 'string') return null;
  if (toolCallId !== null && (typeof toolCallId !== 'string' || toolCallId.length > maxToolCallIdLength)) return null;
  const isDone = (flags & 1) !== 0;
  return { generation, draftId, kind, toolCallId, version, offset, text, isDone, isTruncated: (flags & 2) !== 0 };
}

/** Bytes of a message without its text, the topic and the session's id included; ids may need six bytes for a character. */
const maxFrameBytes = 300 + maxToolCallIdLength * 6;

/** Divides a text so that a message with each part has no more than `maxBytes` bytes. Surrogate pairs stay together. */
export function* splitForMessages(text: string, maxBytes: number): Generator<string> {
  const max = maxBytes - maxFrameBytes;
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + max);
    while (Buffer.byteLength(JSON.stringify(text.slice(from, to))) > max) to = from + ((to - from) >> 1);
    const last = text.charCodeAt(to - 1);
    if (to < text.length && last >= 0xd800 && last <= 0xdbff) to -= 1;
    yield text.slice(from, to);
    from = to;
  }
}
