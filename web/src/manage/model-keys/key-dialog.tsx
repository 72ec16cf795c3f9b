import { useId, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import type { EditedKey } from './key-fields.tsx';
import { KeyForm, type KeyScope } from './key-form.tsx';

interface KeyDialogProps {
  /** Null: a new key. */
  readonly edited: (EditedKey & { readonly providerKeyId: string }) | null;
  readonly scope: KeyScope;
  readonly onSaved: () => void;
  readonly onClose: () => void;
}

/** Creates or changes a model key in a dialog. */
export function KeyDialog({ edited, scope, onSaved, onClose }: KeyDialogProps) {
  const form = useId();
  const toasts = useToasts();
  const [isBusy, setBusy] = useState(false);
  const finish = (name: string) => {
    toasts.say(edited ? `Saved ${name}.` : `Added ${name}.`);
    onSaved();
    onClose();
  };
  return (
    <Dialog
      title={edited ? `Edit ${edited.name}` : 'New model key'}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={form} tone="primary" isBusy={isBusy}>
            Save
          </Button>
        </>
      }
    >
      <KeyForm id={form} edited={edited} scope={scope} onSaved={finish} onBusy={setBusy} />
    </Dialog>
  );
}
