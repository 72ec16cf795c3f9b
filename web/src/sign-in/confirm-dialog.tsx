import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import { onConfirmationNeeded, sendConfirmation } from '../relay/confirm.ts';
import { syncSession } from '../relay/session-sync.ts';
import { common } from '../texts/common.ts';
import { confirmDialog as texts } from '../texts/sign-in.ts';
import { signOn as ofProvider } from '../texts/sign-on.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { confirmPath, fetchProviders, onConfirmation, type Provider } from './sign-on.ts';

/**
 * Asks for the token when the service requires it: before changes of access, control or spending. The form behind it stays
 * as it is.
 */
export function ConfirmSignIn() {
  const [answer, setAnswer] = useState<{ readonly give: (isConfirmed: boolean) => void } | null>(null);
  const open = useRef(answer);
  open.current = answer;
  useEffect(() => {
    const remove = onConfirmationNeeded(() => new Promise<boolean>((give) => setAnswer({ give })));
    return () => {
      remove();
      open.current?.give(false);
    };
  }, []);
  if (answer === null) return null;
  const done = (isConfirmed: boolean) => {
    setAnswer(null);
    answer.give(isConfirmed);
  };
  return <ConfirmChoice onDone={done} />;
}

interface DialogProps {
  readonly onDone: (isConfirmed: boolean) => void;
}

// Users confirm in the way in which they signed in.
function ConfirmChoice({ onDone }: DialogProps) {
  const [provider, setProvider] = useState<Provider | null | undefined>(undefined);
  useEffect(() => {
    void fetchProviders().then((found) => setProvider(found.provider));
  }, []);
  if (provider === undefined) return null;
  return provider === null ? <ConfirmDialog onDone={onDone} /> : <ProviderDialog provider={provider} onDone={onDone} />;
}

// In another tab, so that this page and its forms stay as they are.
function ProviderDialog({ provider: { label }, onDone }: DialogProps & { readonly provider: Provider }) {
  useEffect(() => onConfirmation(() => onDone(true)), [onDone]);
  return (
    <Dialog
      title={texts.titleWithProvider}
      onClose={() => onDone(false)}
      actions={
        <>
          <Button onClick={() => onDone(false)}>{common.cancel}</Button>
          <Button tone="primary" onClick={() => window.open(confirmPath)}>
            {ofProvider.confirmWith({ label })}
          </Button>
        </>
      }
    >
      <p>{ofProvider.confirmIntro({ label })}</p>
    </Dialog>
  );
}

function ConfirmDialog({ onDone }: DialogProps) {
  const form = useId();
  const field = useRef<HTMLInputElement>(null);
  const [error, setError] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy || !field.current) return;
    setBusy(true);
    const answer = await sendConfirmation(field.current.value.trim());
    setBusy(false);
    if (answer.is === 'confirmed') return onDone(true);
    if (answer.is === 'ended') {
      onDone(false);
      void syncSession();
      return;
    }
    setError(answer.message);
    field.current?.focus();
    field.current?.select();
  };
  return (
    <Dialog
      title={texts.title}
      onClose={() => onDone(false)}
      actions={
        <>
          <Button onClick={() => onDone(false)}>{common.cancel}</Button>
          <Button type="submit" form={form} tone="primary" isBusy={isBusy}>
            {texts.confirm}
          </Button>
        </>
      }
    >
      <form id={form} className="form" autoComplete="off" onSubmit={(event) => void submit(event)}>
        <p>{texts.intro}</p>
        <TextField
          ref={field}
          label={common.token}
          type="password"
          name="confirmation"
          autoComplete="off"
          spellCheck={false}
          required
          placeholder={texts.tokenPlaceholder}
          error={error}
          hint={texts.tokenHint}
        />
      </form>
    </Dialog>
  );
}
