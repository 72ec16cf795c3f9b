import { useEffect, useRef, useState } from 'react';
import { signOn as texts } from '../texts/sign-on.ts';
import { Button } from '../ui/button.tsx';
import { Mark } from '../ui/icons.tsx';
import { beginSignOn, confirmPath, fetchProviders } from './sign-on.ts';
import './sign-in.css';

/** Sends the browser to the user's identity provider, in a tab of its own, to confirm the session. */
export function ConfirmPage() {
  const [problem, setProblem] = useState<string | null>(null);
  const isBegun = useRef(false);
  useEffect(() => {
    if (isBegun.current) return;
    isBegun.current = true;
    void fetchProviders().then(async ({ provider }) => {
      setProblem(provider === null ? texts.noProvider : await beginSignOn(provider.id, { isConfirmation: true }));
    });
  }, []);
  if (problem === null) return <SignOnStatus title={texts.signingIn} />;
  return <SignOnStatus title={texts.confirmFailed} problem={problem} />;
}

/** The page of a tab that confirms: it says what happened. */
export function SignOnStatus({
  title,
  note,
  problem,
}: {
  readonly title: string;
  readonly note?: string;
  readonly problem?: string;
}) {
  return (
    <main className="sign-in">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          location.assign(confirmPath);
        }}
      >
        <Mark size={44} />
        <h1>{title}</h1>
        {note !== undefined && <p role="status">{note}</p>}
        {problem !== undefined && (
          <>
            <p className="problem" role="alert">
              {problem}
            </p>
            <Button type="submit" tone="primary">
              {texts.tryAgain}
            </Button>
          </>
        )}
      </form>
    </main>
  );
}
