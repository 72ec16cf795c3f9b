import type { DraftKind, DraftMessage } from './draft-message.ts';
import { DraftWindow } from './draft-window.ts';

/** A part of a draft for a subscriber. */
export class DraftChunk {
  readonly draftId: string;
  readonly kind: DraftKind;
  readonly toolCallId: string | null;
  /** Position of the text in the draft, in UTF-16 code units: it replaces everything from there on. */
  readonly offset: number;
  readonly text: string;
  readonly isDone: boolean;
  /** True if the subscriber does not get the text before the offset. */
  readonly isTruncated: boolean;

  constructor(draft: LiveDraft, offset: number, isTruncated: boolean) {
    this.draftId = draft.id;
    this.kind = draft.kind;
    this.toolCallId = draft.toolCallId;
    this.offset = offset;
    this.text = draft.window.from(offset);
    this.isDone = draft.isDone;
    this.isTruncated = isTruncated;
  }
}

/** A chunk that several subscribers may share, with the results that were made of it. */
export interface DraftBatch {
  readonly items: readonly [DraftChunk];
  /** By the object that made them. */
  readonly results: Map<object, unknown>;
}

/** The position of a subscriber in a draft. */
export interface DraftPosition {
  readonly revision: number;
  readonly end: number;
  readonly isDone: boolean;
}

/** An open draft as this process knows it. */
export class LiveDraft {
  readonly id: string;
  readonly kind: DraftKind;
  readonly toolCallId: string | null;
  readonly generation: number;
  readonly window = new DraftWindow();
  version: number;
  /** Changes when the text was replaced: subscribers then get all of it. */
  revision = 0;
  isDone = false;
  /** True if its entry will not come. */
  isDiscarded = false;
  /** The time of the last message about it, by the monotonic clock. */
  seenAt = 0;
  #last: { readonly from: DraftPosition | null; readonly batch: DraftBatch } | null = null;

  constructor({ draftId, kind, toolCallId, generation, version }: DraftMessage) {
    this.id = draftId;
    this.kind = kind;
    this.toolCallId = toolCallId;
    this.generation = generation;
    this.version = version;
  }

  /** Adds a part. Returns false if a part before it was lost. */
  take({ version, offset, text, isDone, isTruncated }: DraftMessage): boolean {
    // Parts of a text that was replaced since may be repeated.
    if (this.isDone || version < this.version) return true;
    if (version > this.version) {
      this.version = version;
      this.#replace();
    }
    const { window } = this;
    if (offset > window.end) {
      if (!isTruncated) return false;
      window.jumpTo(offset);
    }
    const added = text.slice(window.end - offset);
    if (added !== '') window.append(added);
    if (offset + text.length === window.end) this.isDone = isDone;
    this.#last = null;
    return true;
  }

  /** Replaces the text with nothing: its entry will not come. */
  discard(): void {
    this.#replace();
    this.isDone = true;
    this.isDiscarded = true;
  }

  /** Returns what a subscriber at a position lacks; null if nothing. A draft without text is not sent to new subscribers. */
  chunkAfter(position: DraftPosition | null): DraftBatch | null {
    if (position === null && this.window.end === 0) return null;
    const isCurrent = position !== null && position.revision === this.revision;
    if (isCurrent && position.end === this.window.end && position.isDone === this.isDone) return null;
    if (this.#last !== null && isSame(this.#last.from, position)) return this.#last.batch;
    const from = isCurrent ? position.end : 0;
    const offset = Math.max(from, this.window.start);
    const batch: DraftBatch = { items: [new DraftChunk(this, offset, offset > from)], results: new Map() };
    this.#last = { from: position, batch };
    return batch;
  }

  /** Returns the position of a subscriber that has all of it. */
  position(): DraftPosition {
    return { revision: this.revision, end: this.window.end, isDone: this.isDone };
  }

  #replace(): void {
    this.revision += 1;
    this.window.jumpTo(0);
    this.#last = null;
  }
}

function isSame(one: DraftPosition | null, other: DraftPosition | null): boolean {
  if (one === null || other === null) return one === other;
  return one.end === other.end && one.revision === other.revision;
}
