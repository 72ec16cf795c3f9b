import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import type { IEnvironment } from 'relay-runtime';
import type { confirmDialogQuery } from '../__generated__/confirmDialogQuery.graphql.ts';
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

/** A means by which the user can confirm. */
type Credential = { readonly provider: Provider } | 'tokenOfUser' | 'token' | 'none';

const viewerQuery = graphql`
  query confirmDialogQuery {
    viewer {
      principalType
      apiKeys(first: 1, filter: { status: ACTIVE }) {
        nodes {
          id
        }
      }
    }
  }
`;

async function findCredential(environment: IEnvironment): Promise<Credential> {
  const [{ provider }, found] = await Promise.all([
    fetchProviders(),
    fetchQuery<confirmDialogQuery>(environment, viewerQuery, {})
      .toPromise()
      .catch(() => undefined),
  ]);
  if (provider !== null) return { provider };
  if (found?.viewer.principalType !== 'USER') return 'token';
  return found.viewer.apiKeys?.nodes.length === 0 ? 'none' : 'tokenOfUser';
}

// Users confirm in the way in which they signed in.
function ConfirmChoice({ onDone }: DialogProps) {
  const environment = useRelayEnvironment();
  const [credential, setCredential] = useState<Credential | null>(null);
  useEffect(() => {
    void findCredential(environment).then(setCredential);
  }, [environment]);
  if (credential === null) return null;
  if (typeof credential === 'object') return <ProviderDialog provider={credential.provider} onDone={onDone} />;
  if (credential === 'none') return <NoTokenDialog onDone={onDone} />;
  const hint = credential === 'tokenOfUser' ? texts.userHint : texts.administratorHint;
  return <ConfirmDialog hint={hint} onDone={onDone} />;
}

// A user who was signed in by a link more than ten minutes ago, and has created no token.
function NoTokenDialog({ onDone }: DialogProps) {
  return (
    <Dialog
      title={texts.titleWithoutToken}
      onClose={() => onDone(false)}
      actions={<Button onClick={() => onDone(false)}>{common.close}</Button>}
    >
      <p>{texts.withoutToken}</p>
    </Dialog>
  );
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

function ConfirmDialog({ hint, onDone }: DialogProps & { readonly hint: string }) {
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
          hint={hint}
        />
      </form>
    </Dialog>
  );
}
