import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import { useTagChoices } from '../pickers/use-tag-choices.ts';
import { common } from '../texts/common.ts';
import { bulkBar as texts } from '../texts/sessions.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { useChoices } from '../ui/use-choices.ts';
import { visible } from '../ui/visible.ts';

interface TagDialogProps {
  readonly organizationId: string;
  readonly isBusy: boolean;
  readonly onClose: () => void;
  readonly onTags: (tags: readonly string[]) => void;
}

/** The greatest number of tags that are suggested at once. */
const maxShown = 12;

const tagsOf = (text: string) =>
  text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');

/** The dialog for the tags to add to several sessions. It suggests tags of the organization that begin with, or have, the last word. */
export function TagDialog({ organizationId, isBusy, onClose, onTags }: TagDialogProps) {
  const form = useId();
  const box = useRef<HTMLFormElement>(null);
  const [text, setText] = useState('');
  const { choices, more } = useChoices(useTagChoices(organizationId));
  useEffect(more, [more]);
  const tags = tagsOf(text);
  const typed = (text.split(',').at(-1) ?? '').trim();
  const isComplete = choices.some(({ value }) => value === typed);
  const chosen = new Set(tags);
  const fitting = choices.filter(
    ({ value }) => !chosen.has(value) && (isComplete || value.toLowerCase().includes(typed.toLowerCase())),
  );
  const add = (tag: string) => {
    const before = isComplete ? text.trim() : text.split(',').slice(0, -1).join(',').trim();
    setText(before === '' ? `${tag}, ` : `${before}, ${tag}, `);
    box.current?.querySelector('input')?.focus();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (tags.length > 0) onTags(tags);
  };
  return (
    <Dialog
      title={texts.addTags}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button type="submit" form={form} tone="primary" isBusy={isBusy} disabled={tags.length === 0}>
            {common.add}
          </Button>
        </>
      }
    >
      <form id={form} ref={box} onSubmit={submit} className="tag-form">
        <TextField
          label={common.tags}
          hint={texts.tagsHint}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        {fitting.length > 0 && (
          <fieldset className="suggestions">
            <legend>{texts.suggestions}</legend>
            {fitting.slice(0, maxShown).map(({ value }) => (
              <Button key={value} size="small" onClick={() => add(value)}>
                {visible(value)}
              </Button>
            ))}
          </fieldset>
        )}
      </form>
    </Dialog>
  );
}
