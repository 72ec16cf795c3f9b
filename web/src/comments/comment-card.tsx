import './comments.css';
import { lineComments as texts } from '../texts/comments.ts';
import { Button } from '../ui/button.tsx';
import { visible } from '../ui/visible.ts';
import { type LineComment, nameLines, nameLocation } from './line-comment.ts';

interface CommentCardProps {
  readonly comment: LineComment;
  /** True below the lines of the diff: then neither the file nor the lines are repeated. */
  readonly isBelowLines: boolean;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
}

/** A comment that is not sent yet. */
export function CommentCard({ comment, isBelowLines, onEdit, onRemove }: CommentCardProps) {
  const { id, text, start, end, quoted, isOutdated } = comment;
  const location = nameLocation(comment);
  return (
    <article className="comment-card" data-comment={id} aria-label={texts.commentOn({ location })}>
      <header>
        {isBelowLines ? start !== end && <b>{nameLines(comment)}</b> : <b>{location}</b>}
        {isOutdated && <span className="tag">{texts.outdated}</span>}
      </header>
      {!isBelowLines && <pre className="quoted">{quoted.join('\n')}</pre>}
      <p className="text">{visible(text)}</p>
      <div className="buttons">
        <Button size="small" tone="quiet" icon="edit" aria-label={texts.editComment({ location })} onClick={onEdit} />
        <Button
          size="small"
          tone="quiet"
          icon="trash"
          aria-label={texts.removeComment({ location })}
          onClick={onRemove}
        />
      </div>
    </article>
  );
}
