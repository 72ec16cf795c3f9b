import type { LogEntry } from '../log.ts';
import { type DraftMessage, readDraftMessage } from './draft-message.ts';
import { LiveDraft } from './live-draft.ts';
import { watchMs } from './watch-message.ts';

/** Maximum number of open drafts of a session; more than a worker sends. */
const maxDrafts = 64;
/** The ids of the drafts whose entries were delivered last are kept, to drop parts that arrive late. */
const maxClosed = 1_000;
/** Minimum time in ms between two requests for all open drafts. */
const againGapMs = 1_000;

/** A subscriber to a session. */
export interface LiveSubscriber {
  /** The drafts have changed. */
  draftsChanged(): void;
}

/** A session that subscribers of this process watch, with its open drafts. */
export class LiveSession {
  readonly subscribers = new Set<LiveSubscriber>();
  readonly #drafts = new Map<string, LiveDraft>();
  readonly #closed = new Set<string>();
  readonly #requestAgain: () => void;
  readonly #now: () => number;
  #generation = 0;
  #requestedAt = Number.NEGATIVE_INFINITY;

  /** `requestAgain`: asks the worker for all open drafts. */
  constructor(requestAgain: () => void, now: () => number) {
    this.#requestAgain = requestAgain;
    this.#now = now;
  }

  /** The open drafts, oldest first. */
  drafts(): Iterable<LiveDraft> {
    return this.#drafts.values();
  }

  /** Returns whether a draft is still open or ends with its next chunk. */
  has(draftId: string): boolean {
    return this.#drafts.has(draftId);
  }

  /** Takes a message of a worker; a malformed one is ignored. */
  take(payload: string): void {
    const message = readDraftMessage(payload);
    if (message === null || message.generation < this.#generation || this.#closed.has(message.draftId)) return;
    if (message.generation > this.#generation) this.#takeOver(message.generation);
    const draft = this.#drafts.get(message.draftId) ?? this.#open(message);
    draft.seenAt = this.#now();
    const end = draft.position();
    if (!draft.take(message)) this.request();
    if (draft.chunkAfter(end) !== null) this.#notify();
  }

  /** Asks for all open drafts, unless it did so a moment ago. */
  request(): void {
    if (this.#now() - this.#requestedAt < againGapMs) return;
    this.#requestedAt = this.#now();
    this.#requestAgain();
  }

  /** An entry is delivered: it replaces its draft, and parts that arrive later are dropped. */
  close({ kind, data }: LogEntry): void {
    const draftId = data?.draftId;
    if (typeof draftId !== 'string') return;
    // The output of a tool that is still running stays open.
    if (kind === 'TOOL_CALL' && data?.status !== 'completed' && data?.status !== 'failed') return;
    this.#drafts.delete(draftId);
    this.#closed.delete(draftId);
    this.#closed.add(draftId);
    if (this.#closed.size > maxClosed) this.#closed.delete(this.#closed.values().next().value as string);
  }

  /** Discards the drafts of which a worker says nothing more, because it died, or whose entry does not come. */
  sweep(): void {
    for (const draft of this.#drafts.values()) {
      if (this.#now() - draft.seenAt < watchMs) continue;
      if (draft.isDiscarded) this.#drafts.delete(draft.id);
      else this.#discard(draft);
    }
  }

  // The drafts of an earlier claim have no entry any more.
  #takeOver(generation: number): void {
    this.#generation = generation;
    for (const draft of this.#drafts.values()) if (!draft.isDone) this.#discard(draft);
  }

  #discard(draft: LiveDraft): void {
    draft.discard();
    draft.seenAt = this.#now();
    this.#notify();
  }

  #open(message: DraftMessage): LiveDraft {
    const draft = new LiveDraft(message);
    this.#drafts.set(draft.id, draft);
    if (this.#drafts.size > maxDrafts) this.#drafts.delete(this.#drafts.keys().next().value as string);
    return draft;
  }

  #notify(): void {
    for (const subscriber of [...this.subscribers]) subscriber.draftsChanged();
  }
}
