import { useEffect, useRef, useState } from 'react';
import { signOn as texts } from '../texts/sign-on.ts';
import { SignOnStatus } from './confirm-page.tsx';
import { announceConfirmation, completeSignOn, type ProviderAnswer } from './sign-on.ts';

/**
 * Completes a sign-in at a provider. `onSignedIn`: called with the path to show. `onProblem`: called with the text of a refusal, which
 * the form shows; one of a confirmation is shown here.
 */
export function CallbackPage({
  answer,
  onSignedIn,
  onProblem,
}: {
  readonly answer: ProviderAnswer;
  readonly onSignedIn: (returnTo: string) => void;
  readonly onProblem: (problem: string) => void;
}) {
  const [isConfirmed, setConfirmed] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const isSent = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: an answer is sent once.
  useEffect(() => {
    if (isSent.current) return;
    isSent.current = true;
    void completeSignOn(answer).then((completed) => {
      // The tab that confirms belongs to a user who is signed in: the form would be wrong there.
      if ('problem' in completed) return (answer.isConfirmation ? setProblem : onProblem)(completed.problem);
      if (completed.content.pageSecret !== undefined) return onSignedIn(completed.content.returnTo);
      announceConfirmation();
      setConfirmed(true);
      // Browsers permit it for a tab that a page has opened; otherwise the text stays.
      window.close();
    });
  }, []);
  if (problem !== null) return <SignOnStatus title={texts.confirmFailed} problem={problem} />;
  if (!isConfirmed) return <SignOnStatus title={texts.signingIn} />;
  return <SignOnStatus title={texts.confirmed} note={texts.confirmedHint} />;
}
