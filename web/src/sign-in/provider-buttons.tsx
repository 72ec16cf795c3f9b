import { useEffect, useState } from 'react';
import { signOn as texts } from '../texts/sign-on.ts';
import { Button } from '../ui/button.tsx';
import { beginSignOn, fetchProviders, type Provider } from './sign-on.ts';

/** A button for each identity provider; nothing if there are none. `onProblem`: called with null when an attempt begins. */
export function ProviderButtons({ onProblem }: { readonly onProblem: (problem: string | null) => void }) {
  const [providers, setProviders] = useState<readonly Provider[]>([]);
  const [busy, setBusy] = useState<string | null>(null);
  useEffect(() => {
    let isGone = false;
    void fetchProviders().then((found) => {
      if (!isGone) setProviders(found.providers);
    });
    return () => {
      isGone = true;
    };
  }, []);
  useEffect(() => {
    // The browser may show this page again from its memory when the user goes back from the provider.
    const shown = () => setBusy(null);
    addEventListener('pageshow', shown);
    return () => removeEventListener('pageshow', shown);
  }, []);
  const begin = async (id: string) => {
    setBusy(id);
    onProblem(null);
    const problem = await beginSignOn(id, { isConfirmation: false });
    if (problem === null) return;
    setBusy(null);
    onProblem(problem);
  };
  if (providers.length === 0) return null;
  return (
    <div className="providers">
      {providers.map(({ id, label }) => (
        <Button key={id} isBusy={busy === id} onClick={() => void begin(id)}>
          {texts.continueWith({ label })}
        </Button>
      ))}
      <p className="or">{texts.or}</p>
    </div>
  );
}
