/** A part of a draft, as `sessionLive` sends it. */
export interface DraftPart {
  readonly draftId: string;
  readonly kind: string;
  readonly toolCallId: string | null | undefined;
  readonly offset: number;
  readonly text: string;
  readonly isDone: boolean;
  readonly isTruncated: boolean;
}

/** The text that an agent is writing, or the output of a running tool. */
export interface Draft {
  readonly draftId: string;
  readonly kind: string;
  readonly toolCallId: string | null;
  readonly text: string;
  /** Position of the text in the draft. More than 0: the text before it is not here. */
  readonly start: number;
  /** Counts how often earlier text was replaced. */
  readonly revision: number;
  readonly isDone: boolean;
}

/** More output of a tool is dropped from the front, to {@link keptOutput}. */
const maxOutput = 130_000;
const keptOutput = 65_000;

/** The open drafts of a session. Each draft is immutable, and replaced when it changes. */
export class OpenDrafts {
  readonly #drafts = new Map<string, Draft>();
  /** The drafts from before a break, which were not sent again yet. */
  #stale = new Set<string>();

  /** The drafts, oldest first. */
  list(): readonly Draft[] {
    return [...this.#drafts.values()];
  }

  take({ draftId, kind, toolCallId = null, offset, text, isDone, isTruncated }: DraftPart): void {
    if (isDone && offset === 0 && text === '') {
      this.close(draftId);
      return;
    }
    const isAgain = this.#stale.delete(draftId);
    const before = this.#drafts.get(draftId);
    if (before === undefined || isTruncated) {
      const revision = (before?.revision ?? -1) + 1;
      this.#set({ draftId, kind, toolCallId, text, start: offset, revision, isDone });
      return;
    }
    const end = before.start + before.text.length;
    // Text that is sent again after a break usually continues the text that is here.
    const known = isAgain ? text.slice(0, Math.max(0, end - offset)) : '';
    const isSame = isAgain && offset <= end && before.text.endsWith(known) && known.length >= before.text.length;
    if (isSame) {
      this.#set({ ...before, text: before.text + text.slice(known.length), isDone });
      return;
    }
    const isReplaced = offset < end;
    const kept = before.text.slice(0, Math.max(0, offset - before.start));
    const start = Math.min(before.start, offset);
    this.#set({ ...before, text: kept + text, start, revision: before.revision + (isReplaced ? 1 : 0), isDone });
  }

  /** Removes a draft: its entry is here, or it will have none. */
  close(draftId: string): void {
    this.#drafts.delete(draftId);
    this.#stale.delete(draftId);
  }

  /** The connection broke: open drafts will be sent again, from their beginning. */
  expectAgain(): void {
    this.#stale = new Set(this.#drafts.keys());
  }

  /** Removes the drafts that were not sent again. Returns whether there were any. */
  dropStale(): boolean {
    const stale = [...this.#stale];
    for (const draftId of stale) this.close(draftId);
    return stale.length > 0;
  }

  #set(draft: Draft): void {
    const surplus = draft.kind === 'TOOL_OUTPUT' && draft.text.length > maxOutput ? draft.text.length - keptOutput : 0;
    const next = surplus === 0 ? draft : { ...draft, text: draft.text.slice(surplus), start: draft.start + surplus };
    this.#drafts.set(draft.draftId, next);
  }
}
