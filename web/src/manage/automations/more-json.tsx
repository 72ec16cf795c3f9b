import { useState } from 'react';
import { moreJson as texts } from '../../texts/automation-form.ts';
import { TextArea } from '../../ui/field.tsx';

interface MoreJsonProps {
  /** The label of the disclosure button. */
  readonly title: string;
  readonly hint: string;
  readonly value: string;
  readonly error: string | null;
  readonly onChange: (text: string) => void;
}

/** The options without a field, as JSON; expanded if there are any. */
export function MoreJson({ title, hint, value, error, onChange }: MoreJsonProps) {
  const [isAny] = useState(value !== '');
  return (
    <details className="more-json" open={isAny || error !== null}>
      <summary>{title}</summary>
      <TextArea
        label={texts.jsonLabel({ title })}
        isLabelHidden
        rows={Math.min(16, Math.max(3, value.split('\n').length))}
        spellCheck={false}
        value={value}
        hint={hint}
        error={error}
        onChange={({ target }) => onChange(target.value)}
      />
    </details>
  );
}
