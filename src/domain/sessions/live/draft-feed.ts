import type { LogBatch } from '../log-source.ts';
import type { DraftBatch, DraftPosition, LiveDraft } from './live-draft.ts';
import type { LiveSession, LiveSubscriber } from './live-session.ts';
import type { LiveSessions } from './live-sessions.ts';

/** The drafts of a session for one subscriber, with its position in each. */
export class DraftFeed {
  readonly #live: LiveSessions;
  readonly #sessionId: string;
  readonly #subscriber: LiveSubscriber;
  readonly #session: LiveSession;
  readonly #positions = new Map<string, DraftPosition>();
  /** The last batch of entries, which says where the session belongs. Null: the log has not been read to its end yet. */
  lastBatch: LogBatch | null = null;
  /** True while the result for a chunk is awaited. */
  isWaiting = false;

  constructor(live: LiveSessions, sessionId: string, subscriber: LiveSubscriber) {
    this.#live = live;
    this.#sessionId = sessionId;
    this.#subscriber = subscriber;
    this.#session = live.join(sessionId, subscriber);
  }

  leave(): void {
    this.#live.leave(this.#sessionId, this.#subscriber);
  }

  /** The n-th entry of a batch was sent: its draft is closed. */
  sent(batch: LogBatch, n: number): void {
    const entry = batch.items[n];
    if (entry === undefined) return;
    this.#session.close(entry);
    for (const draftId of this.#positions.keys()) if (!this.#session.has(draftId)) this.#positions.delete(draftId);
  }

  /** Returns the next chunk to send and its draft; null if the subscriber has everything. */
  next(): { readonly draft: LiveDraft; readonly batch: DraftBatch } | null {
    for (const draft of this.#session.drafts()) {
      const batch = draft.chunkAfter(this.#positions.get(draft.id) ?? null);
      if (batch !== null) return { draft, batch };
    }
    return null;
  }

  /** The subscriber has all of a draft. */
  advance(draft: LiveDraft): void {
    this.#positions.set(draft.id, draft.position());
  }
}
