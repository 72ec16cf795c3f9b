import type { DraftKind, DraftMessage } from '../../sessions/live/draft-message.ts';
import { DraftWindow } from '../../sessions/live/draft-window.ts';
import type { StreamMask } from './stream-mask.ts';

/** The masked text of an open draft, as far as it has been produced. */
interface Produced {
  readonly stream: StreamMask;
  readonly window: DraftWindow;
  /** The raw text from which it was produced. */
  raw: string;
  /** All of the masked text; the window may have less. */
  whole: string;
  /** Position up to which it was sent. */
  sentEnd: number;
}

/** A block or the output of a tool that the agent has not completed. */
export class OpenDraft {
  readonly id: string;
  readonly kind: DraftKind;
  readonly toolCallId: string | null;
  /** The agent's text so far. */
  raw = '';
  /** True once a part of it was sent: its entry has its id. */
  wasSent = false;
  #version = 0;
  #produced: Produced | null = null;

  constructor(id: string, kind: DraftKind, toolCallId: string | null) {
    this.id = id;
    this.kind = kind;
    this.toolCallId = toolCallId;
  }

  /** Number of characters of the raw text whose masked form was produced. */
  get cut(): number {
    return this.#produced?.stream.cut() ?? 0;
  }

  /** Forgets the masked text: nobody watches. */
  forget(): void {
    if (this.#produced !== null && this.wasSent) this.#version += 1;
    this.#produced = null;
    if (this.kind === 'tool_output') this.raw = '';
  }

  /** Masks what has arrived, as far as more text cannot change it. */
  produce(createStream: () => StreamMask): void {
    const produced = this.#begin(createStream);
    if (produced.raw === this.raw) return;
    produced.raw = this.raw;
    this.#add(produced, produced.stream.next(this.raw));
  }

  /**
   * Masks the rest of the raw text, which is complete. `entry`: the text of its entry. Returns the text for the
   * entry, which begins with the text of the draft.
   */
  complete(raw: string, entry: string | null): string {
    const produced = this.#produced;
    if (produced === null) return entry ?? '';
    const isBeginning = entry?.startsWith(produced.whole) ?? false;
    this.#add(produced, isBeginning && entry !== null ? entry.slice(produced.whole.length) : produced.stream.rest(raw));
    return produced.whole;
  }

  /** Returns whether there is text to send. */
  hasMore(): boolean {
    return this.#produced !== null && this.#produced.sentEnd < this.#produced.window.end && this.#isVisible();
  }

  /** Returns the next part to send, with a maximum number of characters. */
  takePart(maxLength: number): Part | null {
    const produced = this.#produced;
    if (produced === null || !this.hasMore()) return null;
    const { window } = produced;
    const offset = Math.max(produced.sentEnd, window.start);
    const isTruncated = offset > produced.sentEnd;
    const text = window
      .from(offset)
      .slice(0, maxLength)
      .replace(/[\uD800-\uDBFF]$/, '');
    produced.sentEnd = offset + text.length;
    this.wasSent = true;
    return { version: this.#version, offset, text, isTruncated };
  }

  /** Returns everything that was sent and is retained; null if nothing was sent. */
  sentPart(): Part | null {
    const produced = this.#produced;
    if (produced === null || produced.sentEnd === 0) return null;
    const { window, sentEnd } = produced;
    const text = window.from(window.start).slice(0, Math.max(0, sentEnd - window.start));
    return { version: this.#version, offset: window.start, text, isTruncated: window.start > 0 };
  }

  /** Returns a part without text at the end of what was sent. */
  endPart(): Part {
    return { version: this.#version, offset: this.#produced?.sentEnd ?? 0, text: '', isTruncated: false };
  }

  /** Returns a part that replaces all text with nothing. */
  discardPart(): Part {
    this.#version += 1;
    return { version: this.#version, offset: 0, text: '', isTruncated: false };
  }

  #begin(createStream: () => StreamMask): Produced {
    const before = this.#produced;
    // A tool may report other output than before: it is masked from the start and replaces the earlier one.
    if (before !== null && this.raw.startsWith(before.raw.slice(0, before.stream.cut()))) return before;
    if (before !== null) this.#version += 1;
    this.#produced = { stream: createStream(), window: new DraftWindow(), raw: '', whole: '', sentEnd: 0 };
    return this.#produced;
  }

  #add(produced: Produced, text: string): void {
    produced.window.append(text);
    produced.whole += text;
  }

  // A block of white space has no entry.
  #isVisible(): boolean {
    return this.wasSent || this.#produced?.whole.trim() !== '';
  }
}

/** A part of a draft to send. */
export type Part = Pick<DraftMessage, 'version' | 'offset' | 'text' | 'isTruncated'>;
