import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { RelayEnvironmentProvider } from 'react-relay';
import { Router } from 'wouter';
import { createEnvironment } from '../relay/environment.ts';
import { onSignedOut } from '../relay/signed-out.ts';
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
  const environment = useMemo(() => createEnvironment(), [epoch]);
  const isKnown = useRef(false);
  const know = useCallback(() => {
    isKnown.current = true;
  }, []);
  // Who pressed the button knows why.
  useEffect(() => onSignedOut((reason) => setSignedOut({ isSudden: isKnown.current && reason !== null })), []);
  const enter = useCallback(() => {
    isKnown.current = false;
    setEpoch((before) => before + 1);
    setSignedOut(null);
  }, []);
  const renew = useCallback(() => setEpoch((before) => before + 1), []);
  const isLink = location.pathname === '/sign-in';
  if (signedOut || isLink) return <SignIn isSudden={signedOut?.isSudden ?? false} onDone={enter} />;
  return (
    <RelayEnvironmentProvider environment={environment} key={epoch}>
      <ToastProvider>
        <RenewContext value={renew}>
          <Router>
            <ErrorBoundary>
              <Gate onKnown={know}>
                <Pages />
              </Gate>
            </ErrorBoundary>
          </Router>
        </RenewContext>
      </ToastProvider>
    </RelayEnvironmentProvider>
  );
}
