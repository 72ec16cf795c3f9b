import { useSyncExternalStore } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import { useLocation } from 'wouter';
import type { signOutQuery } from '../__generated__/signOutQuery.graphql.ts';
import { signOut } from '../relay/signed-out.ts';
import { isSignedInByLink } from '../sign-in/link.ts';
import { common } from '../texts/common.ts';
import { signOut as texts } from '../texts/layout.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { useToasts } from '../ui/toasts.tsx';

const tokensQuery = graphql`
  query signOutQuery {
    viewer {
      apiKeys(first: 1, filter: { status: ACTIVE }) {
        nodes {
          id
        }
      }
    }
  }
`;

let isAsking = false;
const listeners = new Set<() => void>();

function setAsking(next: boolean): void {
  isAsking = next;
  for (const each of listeners) each();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Returns a function that signs out, and says so if the service could not be reached. */
function useLeave(): () => void {
  const toasts = useToasts();
  return () => {
    void signOut().then((isOut) => {
      if (!isOut) toasts.fail(texts.notReachable);
    });
  };
}

/**
 * Returns a function that signs out. A user whom a link signed in, and who has no token, is asked first by {@link SignOutDialog}: without a
 * token, the user cannot sign in again.
 */
export function useSignOut(): () => void {
  const environment = useRelayEnvironment();
  const leave = useLeave();
  return () => {
    if (!isSignedInByLink()) return leave();
    void fetchQuery<signOutQuery>(environment, tokensQuery, {})
      .toPromise()
      .then((found) => (found?.viewer.apiKeys?.nodes.length === 0 ? setAsking(true) : leave()), leave);
  };
}

/** The question of {@link useSignOut}; the frame of every page renders it once. */
export function SignOutDialog() {
  const isOpen = useSyncExternalStore(listen, () => isAsking);
  const [, go] = useLocation();
  const leave = useLeave();
  if (!isOpen) return null;
  const close = () => setAsking(false);
  return (
    <Dialog
      title={texts.withoutToken}
      onClose={close}
      actions={
        <>
          <Button
            onClick={() => {
              close();
              leave();
            }}
          >
            {common.signOut}
          </Button>
          <Button
            tone="primary"
            onClick={() => {
              close();
              go('/manage/my-tokens');
            }}
          >
            {texts.createToken}
          </Button>
        </>
      }
    >
      <p>{texts.withoutTokenText}</p>
    </Dialog>
  );
}
