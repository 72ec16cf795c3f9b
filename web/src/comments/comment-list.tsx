import './comments.css';
import { useRef } from 'react';
import { flushSync } from 'react-dom';
import { commentList as texts } from '../texts/comments.ts';
import { CommentCard } from './comment-card.tsx';
import { useComments } from './comment-draft.ts';
import { CommentForm } from './comment-form.tsx';

interface CommentListProps {
  /** The effect of the comments on the open question; null: there is none. */
  readonly note: string | null;
  /** Called when the last comment is removed. */
  readonly onEmpty: () => void;
}

/** The comments that the next message has, above its field. */
export function CommentList({ note, onEmpty }: CommentListProps) {
  const { comments, open, draft } = useComments();
  const list = useRef<HTMLDetailsElement>(null);
  if (draft === null || comments.length === 0) return null;
  const focus = (selector: string) => list.current?.querySelector<HTMLElement>(selector)?.focus();
  const remove = (id: string) => {
    flushSync(() => draft.remove([id]));
    if (comments.length === 1) onEmpty();
    else focus('summary');
  };
  return (
    <section className="comment-list" aria-label={texts.title}>
      <details ref={list}>
        <summary>{texts.count({ count: comments.length })}</summary>
        <ul>
          {comments.map((comment) => (
            <li key={comment.id}>
              {open?.id === comment.id && open.at === 'list' ? (
                <CommentForm
                  draft={draft}
                  open={open}
                  onClosed={() => focus(`[data-comment="${comment.id}"] button`)}
                />
              ) : (
                <CommentCard
                  comment={comment}
                  isBelowLines={false}
                  onEdit={() => draft.edit(comment.id, 'list')}
                  onRemove={() => remove(comment.id)}
                />
              )}
            </li>
          ))}
        </ul>
      </details>
      {note !== null && <p className="hint">{note}</p>}
    </section>
  );
}
