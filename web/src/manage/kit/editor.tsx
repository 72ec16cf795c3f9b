import { useId, useState } from 'react';
import { editor as texts } from '../../texts/manage-kit.ts';
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
        <legend className="for-readers">{texts.viewLegend({ label })}</legend>
        <Button tone="quiet" size="small" aria-pressed={!isPreview} onClick={() => setPreview(false)}>
          {texts.write}
        </Button>
        <Button tone="quiet" size="small" aria-pressed={isPreview} onClick={() => setPreview(true)}>
          {texts.preview}
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
            {texts.preview}
          </h2>
          {text.trim() ? <Markdown text={text} /> : <p className="soft">{texts.nothingToPreview}</p>}
        </section>
      )}
    </div>
  );
}
