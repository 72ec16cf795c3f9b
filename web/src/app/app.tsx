import { useCallback, useEffect, useMemo, useState } from 'react';
import { RelayEnvironmentProvider } from 'react-relay';
import { Router } from 'wouter';
import { createEnvironment } from '../relay/environment.ts';
import { onSignedOut } from '../relay/signed-out.ts';
import { SignIn } from '../sign-in/sign-in.tsx';
import { ErrorBoundary } from '../ui/error-boundary.tsx';
import { ToastProvider } from '../ui/toasts.tsx';
import { Gate } from './gate.tsx';
import { Pages } from './pages.tsx';

/** The whole console: how to sign in, or the pages of who has. */
export function App() {
  const [epoch, setEpoch] = useState(0);
  const [signedOut, setSignedOut] = useState<{ readonly reason: string | null } | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new sign-in starts with nothing known.
  const environment = useMemo(() => createEnvironment(), [epoch]);
  useEffect(() => onSignedOut((reason) => setSignedOut({ reason })), []);
  const enter = useCallback(() => {
    setEpoch((before) => before + 1);
    setSignedOut(null);
  }, []);
  const isLink = location.pathname === '/sign-in';
  if (signedOut || isLink) return <SignIn wasIn={epoch > 0} onDone={enter} />;
  return (
    <RelayEnvironmentProvider environment={environment} key={epoch}>
      <ToastProvider>
        <Router>
          <ErrorBoundary>
            <Gate>
              <Pages />
            </Gate>
          </ErrorBoundary>
        </Router>
      </ToastProvider>
    </RelayEnvironmentProvider>
  );
}
