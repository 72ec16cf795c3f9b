import { useId, useState } from 'react';
import { common } from '../../texts/common.ts';
import { keyDialog as texts } from '../../texts/model-keys.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import type { EditedKey } from './key-fields.tsx';
import { KeyForm, type KeyScope } from './key-form.tsx';

interface KeyDialogProps {
  /** Null: a new key. */
  readonly edited: (EditedKey & { readonly providerKeyId: string }) | null;
  readonly scope: KeyScope;
  /** Called when the key has changed. */
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

/** Creates or changes a model key in a dialog. */
export function KeyDialog({ edited, scope, onChanged, onClose }: KeyDialogProps) {
  const form = useId();
  const toasts = useToasts();
  const [{ isBusy, isRefused }, setState] = useState({ isBusy: false, isRefused: false });
  const finish = (name: string) => {
    toasts.say(edited ? common.savedName({ name }) : common.addedName({ name }));
    onClose();
  };
  return (
    <Dialog
      title={edited ? common.editName({ name: edited.name }) : texts.newTitle}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{isRefused ? common.close : common.cancel}</Button>
          <Button type="submit" form={form} tone="primary" isBusy={isBusy}>
            {isRefused ? texts.replaceKey : edited ? common.save : texts.add}
          </Button>
        </>
      }
    >
      <KeyForm id={form} edited={edited} scope={scope} onStored={onChanged} onSaved={finish} onState={setState} />
    </Dialog>
  );
}
