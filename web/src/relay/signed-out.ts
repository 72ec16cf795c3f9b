import { consoleHeaders, onOtherSignIn, storePageSecret } from './page-secret.ts';

/** What listens to how this browser is signed in. */
export interface SignInListener {
  /** The service knows this browser no longer. `reason`: in the service's words; null where a person pressed the button. */
  out(reason: string | null): void;
  /** Somebody else is signed in now than whose pages these are. */
  other(): void;
  /** Somebody has signed in in another tab. */
  entered(): void;
}

const listeners = new Set<SignInListener>();

type TabMessage = 'leaving' | 'stayed' | 'out' | 'in';

// The tabs of one browser share one sign-in: what one does, all are told.
const tabs = new BroadcastChannel('switchyard');
let isLeaving = false;

tabs.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => {
  if (data === 'leaving' || data === 'stayed') isLeaving = data === 'leaving';
  if (data === 'out') notifySignedOut(null);
  if (data === 'in') for (const each of [...listeners]) each.entered();
});

// Where the tab that signed in was closed before it told the others.
onOtherSignIn(() => {
  for (const each of [...listeners]) each.entered();
});

/** Whoever listens shows how to sign in. Who has pressed the button knows why, in whatever way the page hears of it. */
export function notifySignedOut(reason: string | null): void {
  for (const each of [...listeners]) each.out(isLeaving ? null : reason);
}

/** Whoever listens begins anew. */
export function notifyOtherViewer(): void {
  for (const each of [...listeners]) each.other();
}

/** Signs out here and in every tab; false where the service could not be reached, and all stay signed in. */
export async function signOut(): Promise<boolean> {
  isLeaving = true;
  tabs.postMessage('leaving' satisfies TabMessage);
  const headers = consoleHeaders();
  const end = async (credentials: RequestCredentials) => {
    const response = await fetch('/console/session', { method: 'DELETE', headers, credentials }).catch(() => null);
    // 401: the sign-in had ended before.
    return response?.ok === true || response?.status === 401;
  };
  // The page secret is enough. Cookies that another server of the host has set may make a request with them too large.
  const isOut = (await end('same-origin')) || (await end('omit'));
  if (isOut) storePageSecret(null);
  tabs.postMessage((isOut ? 'out' : 'stayed') satisfies TabMessage);
  if (isOut) notifySignedOut(null);
  else isLeaving = false;
  return isOut;
}

/** To be called when somebody has signed in here: the other tabs are told. */
export function notifySignedIn(): void {
  isLeaving = false;
  tabs.postMessage('in' satisfies TabMessage);
}

/** Hears of all that; gives what ends it. */
export function onSignIn(listener: SignInListener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** To be called when it is known who is signed in: what is heard from now on is not of the last who left. */
export function clearLeaving(): void {
  isLeaving = false;
}
