import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { RelayEnvironmentProvider } from 'react-relay';
import { Router } from 'wouter';
import { beginWith, createKnown } from '../relay/environment.ts';
import { look, lookOnReturn } from '../relay/look.ts';
import { noteKnown, onSignIn } from '../relay/signed-out.ts';
import { ConfirmSignIn } from '../sign-in/confirm-dialog.tsx';
import { SignIn } from '../sign-in/sign-in.tsx';
import { ErrorBoundary, RenewContext } from '../ui/error-boundary.tsx';
import { ToastProvider } from '../ui/toasts.tsx';
import { Gate } from './gate.tsx';
import { Pages } from './pages.tsx';

/** The whole console: how to sign in, or the pages of who has. */
export function App() {
  const [epoch, setEpoch] = useState(0);
  const [signedOut, setSignedOut] = useState<{ readonly isSudden: boolean } | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new sign-in starts with nothing known.
  const known = useMemo(() => createKnown(), [epoch]);
  // Before anything inside subscribes.
  useLayoutEffect(() => beginWith(known), [known]);
  const isKnown = useRef(false);
  const isOut = useRef(false);
  const know = useCallback(() => {
    isKnown.current = true;
    noteKnown();
  }, []);
  const renew = useCallback(() => setEpoch((before) => before + 1), []);
  const enter = useCallback(() => {
    isKnown.current = false;
    isOut.current = false;
    renew();
    setSignedOut(null);
  }, [renew]);
  useEffect(
    () =>
      onSignIn({
        // Who pressed the button knows why; and what is heard first is why.
        out: (reason) => {
          isOut.current = true;
          setSignedOut((before) => before ?? { isSudden: isKnown.current && reason !== null });
        },
        other: renew,
        entered: () => (isOut.current ? enter() : void look()),
      }),
    [renew, enter],
  );
  useEffect(lookOnReturn, []);
  const isLink = location.pathname === '/sign-in';
  if (signedOut || isLink) return <SignIn isSudden={signedOut?.isSudden ?? false} onDone={enter} />;
  return (
    <RelayEnvironmentProvider environment={known.environment} key={epoch}>
      <ToastProvider>
        <RenewContext value={renew}>
          <Router>
            <ErrorBoundary>
              <Gate onKnown={know}>
                <Pages />
              </Gate>
            </ErrorBoundary>
          </Router>
          <ConfirmSignIn />
        </RenewContext>
      </ToastProvider>
    </RelayEnvironmentProvider>
  );
}
