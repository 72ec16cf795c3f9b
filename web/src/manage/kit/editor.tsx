import { useId, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { TextArea } from '../../ui/field.tsx';
import { Markdown } from '../../ui/markdown.tsx';

interface EditorProps {
  readonly label: string;
  readonly name: string;
  readonly defaultValue: string;
  readonly hint?: string;
  readonly error?: string | null;
}

/** A Markdown text field with a preview. */
export function Editor({ label, name, defaultValue, hint, error }: EditorProps) {
  const [text, setText] = useState(defaultValue);
  const [isPreview, setPreview] = useState(false);
  const id = useId();
  return (
    <div className="editor">
      <fieldset className="switches">
        <legend className="for-readers">{label}: view</legend>
        <Button tone="quiet" size="small" aria-pressed={!isPreview} onClick={() => setPreview(false)}>
          Write
        </Button>
        <Button tone="quiet" size="small" aria-pressed={isPreview} onClick={() => setPreview(true)}>
          Preview
        </Button>
      </fieldset>
      <div hidden={isPreview}>
        <TextArea
          label={label}
          name={name}
          rows={18}
          required
          value={text}
          hint={hint}
          error={error}
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      {isPreview && (
        <section className="card preview" aria-labelledby={id}>
          <h2 id={id} className="for-readers">
            Preview
          </h2>
          {text.trim() ? <Markdown text={text} /> : <p className="soft">Nothing to preview.</p>}
        </section>
      )}
    </div>
  );
}
