import './comments.css';
import { type KeyboardEvent, useId, useState } from 'react';
import { flushSync } from 'react-dom';
import { commentForm as texts } from '../texts/comments.ts';
import { common } from '../texts/common.ts';
import { Button } from '../ui/button.tsx';
import { RichText } from '../ui/rich-text.tsx';
import type { CommentDraft, OpenComment } from './comment-draft.ts';
import { nameLines, nameLocation } from './line-comment.ts';

interface CommentFormProps {
  readonly draft: CommentDraft;
  readonly open: OpenComment;
  /** Called when the form is closed, to focus another element. */
  readonly onClosed: () => void;
}

/** The form for a comment. Ctrl-Enter adds it, and Escape closes an empty form. */
export function CommentForm({ draft, open, onClosed }: CommentFormProps) {
  const [text, setText] = useState(open.text);
  const hintId = useId();
  const isBlank = text.trim() === '';
  const close = (act: () => void) => {
    flushSync(act);
    onClosed();
  };
  const save = () => {
    if (!isBlank) close(draft.save);
  };
  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) save();
    else if (event.key !== 'Escape') return;
    else if (isBlank) close(draft.cancel);
    // Escape would stop the agent.
    event.preventDefault();
  };
  return (
    // No form: the field for messages is one, and has it in its list.
    <fieldset className="comment-form">
      <legend>{open.at === 'diff' ? nameLines(open) : nameLocation(open)}</legend>
      <textarea
        rows={3}
        // biome-ignore lint/a11y/noAutofocus: the user asked for the form.
        autoFocus
        aria-label={texts.label({ location: nameLines(open) })}
        aria-describedby={hintId}
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          draft.keep(target.value);
        }}
        onKeyDown={press}
      />
      <p className="hint" id={hintId}>
        <span className="with-keys">
          <RichText text={texts.keysHint} slots={{ key: <kbd>Ctrl+Enter</kbd> }} /> {open.isNew && texts.rangeHint}
        </span>
        {open.isNew && <span className="by-touch">{texts.tapHint}</span>}
      </p>
      <div className="buttons">
        <Button size="small" tone="primary" disabled={isBlank} onClick={save}>
          {open.isNew ? texts.add : common.save}
        </Button>
        <Button size="small" onClick={() => close(draft.cancel)}>
          {common.cancel}
        </Button>
      </div>
    </fieldset>
  );
}
