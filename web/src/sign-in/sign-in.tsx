import './sign-in.css';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { Mark } from '../ui/icons.tsx';

/** The code of a link that signs in once. It is behind the "#", which browsers send to nobody, and is taken out at once. */
function takeLink(): string | null {
  const link = new URLSearchParams(location.hash.slice(1)).get('link');
  if (link !== null) history.replaceState(null, '', location.pathname);
  return link;
}

/** Why it was refused; null when it was not. */
async function send(input: { readonly token: string } | { readonly link: string }): Promise<string | null> {
  try {
    const response = await fetch('/console/session', {
      method: 'POST',
      credentials: 'same-origin',
      headers: { 'content-type': 'application/json', 'switchyard-client': 'console' },
      body: JSON.stringify(input),
    });
    if (response.ok) return null;
    const body = (await response.json().catch(() => null)) as { readonly message?: string } | null;
    return body?.message ?? `The service answered ${response.status}.`;
  } catch {
    return 'The service cannot be reached.';
  }
}

/** Signs in, by a link or a token. `isSudden`: the pages were open until now, and nobody signed out there. */
export function SignIn({ isSudden, onDone }: { readonly isSudden: boolean; readonly onDone: () => void }) {
  const [token, setToken] = useState('');
  const [error, setError] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const isTaken = useRef(false);

  const enter = async (input: Parameters<typeof send>[0]) => {
    setBusy(true);
    const refusal = await send(input);
    setBusy(false);
    setError(refusal);
    if (refusal !== null) return;
    if (location.pathname === '/sign-in') history.replaceState(null, '', '/');
    onDone();
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: a link is used once.
  useEffect(() => {
    if (isTaken.current) return;
    isTaken.current = true;
    const link = takeLink();
    if (link !== null) void enter({ link });
  }, []);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    void enter({ token: token.trim() });
  };
  return (
    <main className="sign-in">
      <form onSubmit={submit}>
        <Mark size={44} />
        <h1>Sign in to Switchyard</h1>
        {isSudden && <p className="note">You were signed out: the session ended, or its key did.</p>}
        <TextField
          label="Token"
          type="password"
          name="token"
          autoComplete="off"
          spellCheck={false}
          required
          placeholder="cog_… or apk_…"
          value={token}
          onChange={(event) => setToken(event.target.value)}
          error={error}
          hint="It is sent once. This browser then keeps a cookie that no script can read."
        />
        <Button type="submit" tone="primary" isBusy={isBusy}>
          Sign in
        </Button>
        <p className="note">
          On the machine of the service, <code>npm run token</code> makes a new administrator’s token.
        </p>
      </form>
    </main>
  );
}
