import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { RelayEnvironmentProvider } from 'react-relay';
import { Router } from 'wouter';
import { beginWith, createViewerEnvironment } from '../relay/environment.ts';
import { syncSession, syncSessionOnReturn } from '../relay/session-sync.ts';
import { clearLeaving, onSignIn, type SignOutCause } from '../relay/signed-out.ts';
import { ConfirmSignIn } from '../sign-in/confirm-dialog.tsx';
import { ConfirmPage } from '../sign-in/confirm-page.tsx';
import { SignIn } from '../sign-in/sign-in.tsx';
import { confirmPath } from '../sign-in/sign-on.ts';
import { ErrorBoundary, RenewContext } from '../ui/error-boundary.tsx';
import { ToastProvider } from '../ui/toasts.tsx';
import { Gate } from './gate.tsx';
import { preloadPage } from './page-loaders.ts';
import { Pages } from './pages.tsx';

/** The whole console: the sign-in form, or the pages of a signed-in user. */
export function App() {
  const [epoch, setEpoch] = useState(0);
  const [signedOut, setSignedOut] = useState<{ readonly cause: SignOutCause | null } | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new sign-in starts with nothing known.
  const viewerEnvironment = useMemo(() => createViewerEnvironment(), [epoch]);
  // Before any child subscribes.
  useLayoutEffect(() => beginWith(viewerEnvironment), [viewerEnvironment]);
  const isLoaded = useRef(false);
  const isOut = useRef(false);
  const markLoaded = useCallback(() => {
    isLoaded.current = true;
    clearLeaving();
  }, []);
  const renew = useCallback(() => setEpoch((before) => before + 1), []);
  const enter = useCallback(() => {
    isLoaded.current = false;
    isOut.current = false;
    renew();
    setSignedOut(null);
  }, [renew]);
  useEffect(
    () =>
      onSignIn({
        // The first cause counts. Before the pages are loaded, nobody was signed in here.
        out: (cause) => {
          isOut.current = true;
          setSignedOut((before) => before ?? { cause: isLoaded.current ? cause : null });
        },
        other: renew,
        entered: () => (isOut.current ? enter() : void syncSession()),
      }),
    [renew, enter],
  );
  // After the request for the signed-in user, which must not wait for a connection.
  useEffect(() => preloadPage(location.pathname), []);
  useEffect(syncSessionOnReturn, []);
  if (location.pathname === confirmPath && !signedOut) return <ConfirmPage />;
  const isLink = /^\/sign-in(?:\/|$)/.test(location.pathname);
  if (signedOut || isLink) return <SignIn cause={signedOut?.cause ?? null} onDone={enter} />;
  return (
    <RelayEnvironmentProvider environment={viewerEnvironment.environment} key={epoch}>
      <ToastProvider>
        <RenewContext value={renew}>
          <Router>
            <ErrorBoundary isOutermost>
              <Gate onLoaded={markLoaded}>
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
