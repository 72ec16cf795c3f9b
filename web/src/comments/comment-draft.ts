import { createContext, useContext, useSyncExternalStore } from 'react';
import { newKey } from '../relay/new-key.ts';
import { findDraft, onDraftChange, saveDraft } from '../ui/drafts.ts';
import type { CommentedLines, LineComment } from './line-comment.ts';

/** The comment whose text the user is writing. */
export interface OpenComment extends LineComment {
  /** False: it replaces the comment with its id. */
  readonly isNew: boolean;
  /** The form is below the lines of the diff, or in the list above the field for messages. */
  readonly at: 'diff' | 'list';
}

/** The comments of a draft, and the one that is being written. */
export interface CommentsSnapshot {
  readonly comments: readonly LineComment[];
  readonly open: OpenComment | null;
}

const empty: CommentsSnapshot = { comments: [], open: null };

/**
 * The comments on a session's changes that are not sent yet. All tabs of the browser have the same comments. A tab keeps the one that is being
 * written for itself.
 */
export class CommentDraft {
  readonly #name: string;
  readonly #listeners = new Set<() => void>();
  readonly #openName: string;
  #stopHearing: (() => void) | null = null;
  #snapshot: CommentsSnapshot;

  constructor(sessionId: string) {
    this.#name = `${sessionId}:comments`;
    this.#openName = `${sessionId}:comment`;
    this.#snapshot = { comments: this.#stored(), open: findDraft<OpenComment>(this.#openName) };
  }

  readonly listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    this.#stopHearing ??= onDraftChange(this.#name, () => {
      this.#snapshot = { ...this.#snapshot, comments: this.#stored() };
      this.#notify();
    });
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#stopHearing?.();
      this.#stopHearing = null;
    };
  };

  readonly snapshot = (): CommentsSnapshot => this.#snapshot;

  /** Opens the form for new lines. Another text that is being written becomes a comment. */
  readonly begin = (lines: CommentedLines): void => {
    this.save();
    const more = { id: newKey(), text: '', isOutdated: false, isNew: true, at: 'diff' } as const;
    this.#set({ open: { ...lines, ...more } });
  };

  /** Gives the open form other lines. */
  readonly move = (lines: CommentedLines): void => {
    const { open } = this.#snapshot;
    if (open) this.#set({ open: { ...open, ...lines } });
  };

  /** Opens the form for a comment. */
  readonly edit = (id: string, at: OpenComment['at']): void => {
    this.save();
    const comment = this.#snapshot.comments.find((each) => each.id === id);
    if (comment) this.#set({ open: { ...comment, isNew: false, at } });
  };

  /** Stores the text of the open form as far as it is written. The form itself shows it, so nobody else is notified. */
  readonly keep = (text: string): void => {
    const { open } = this.#snapshot;
    if (!open) return;
    this.#snapshot = { ...this.#snapshot, open: { ...open, text } };
    saveDraft(this.#openName, this.#snapshot.open);
  };

  /** Makes the open form's text a comment, unless it is empty, and closes the form. */
  readonly save = (): void => {
    const { open, comments } = this.#snapshot;
    if (!open) return;
    const { isNew, at: _, ...comment } = open;
    const saved = { ...comment, text: comment.text.trim() };
    if (saved.text === '') this.#set({ open: null });
    else if (isNew) this.#set({ open: null, comments: [...comments, saved] });
    else this.#set({ open: null, comments: comments.map((each) => (each.id === saved.id ? saved : each)) });
  };

  /** Closes the form without its text. */
  readonly cancel = (): void => this.#set({ open: null });

  readonly remove = (ids: readonly string[]): void => {
    const { open, comments } = this.#snapshot;
    const isRemoved = ({ id }: LineComment) => ids.includes(id);
    this.#set({
      comments: comments.filter((each) => !isRemoved(each)),
      open: open && !open.isNew && isRemoved(open) ? null : open,
    });
  };

  /** Sets where the newest diff of this tab has the lines of comments; null: it does not have them. Other tabs may show another diff. */
  readonly relocate = (
    locations: ReadonlyMap<string, { readonly start: number; readonly end: number } | null>,
  ): void => {
    const relocated = <T extends LineComment>(comment: T): T => {
      const found = locations.get(comment.id);
      if (found === undefined) return comment;
      const isOutdated = found === null;
      const { start, end } = found ?? comment;
      const isSame = comment.isOutdated === isOutdated && comment.start === start && comment.end === end;
      return isSame ? comment : { ...comment, isOutdated, start, end };
    };
    const { open, comments } = this.#snapshot;
    const next = { comments: comments.map(relocated), open: open && relocated(open) };
    if (next.open === open && next.comments.every((each, index) => each === comments[index])) return;
    this.#snapshot = next;
    this.#notify();
  };

  #set(change: Partial<CommentsSnapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...change };
    const { comments, open } = this.#snapshot;
    saveDraft(this.#openName, open);
    // The other tabs are not notified of what they have already.
    if (change.comments) saveDraft(this.#name, comments.length === 0 ? null : comments, 'browser');
    this.#notify();
  }

  readonly #stored = (): readonly LineComment[] => findDraft<LineComment[]>(this.#name, 'browser') ?? [];

  readonly #notify = (): void => {
    for (const each of this.#listeners) each();
  };
}

/** The comments of the session page; null: the viewer may send none. */
export const CommentsContext = createContext<CommentDraft | null>(null);

const unchanging = () => () => undefined;
const nothing = () => empty;

/** Returns the comments of the session page, and the draft that changes them. */
export function useComments(): CommentsSnapshot & { readonly draft: CommentDraft | null } {
  const draft = useContext(CommentsContext);
  const snapshot = useSyncExternalStore(draft?.listen ?? unchanging, draft?.snapshot ?? nothing);
  return { ...snapshot, draft };
}
