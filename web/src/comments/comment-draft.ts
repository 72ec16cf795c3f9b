import { createContext, useContext, useSyncExternalStore } from 'react';
import { newKey } from '../relay/new-key.ts';
import { findDraft, saveDraft } from '../ui/drafts.ts';
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

/** The comments on a session's changes that are not sent yet. They are stored while the tab is open. */
export class CommentDraft {
  readonly #name: string;
  readonly #listeners = new Set<() => void>();
  #snapshot: CommentsSnapshot;

  constructor(sessionId: string) {
    this.#name = `${sessionId}:comments`;
    this.#snapshot = findDraft<CommentsSnapshot>(this.#name) ?? empty;
  }

  readonly listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
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
    saveDraft(this.#name, this.#snapshot);
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

  /** Stores where the newest diff has the lines of comments; null: it does not have them. */
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
    if (next.open !== open || next.comments.some((each, index) => each !== comments[index])) this.#set(next);
  };

  #set(change: Partial<CommentsSnapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...change };
    const { comments, open } = this.#snapshot;
    saveDraft(this.#name, comments.length === 0 && open === null ? null : this.#snapshot);
    for (const each of this.#listeners) each();
  }
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
