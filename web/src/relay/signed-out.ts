import { consoleHeaders, onOtherSignIn, storePageSecret } from './page-secret.ts';

/** The cause of the end of a sign-in: the user signed out here or in another tab, or the service refuses it. */
export type SignOutCause = 'HERE' | 'OTHER_TAB' | 'REFUSED';

/** Listens for changes of this browser's sign-in. */
export interface SignInListener {
  /** The service no longer accepts this browser's sign-in. */
  out(cause: SignOutCause): void;
  /** Another user is signed in than the one that the pages show. */
  other(): void;
  /** Another tab has signed in. */
  entered(): void;
}

const listeners = new Set<SignInListener>();

type TabMessage = 'leaving' | 'stayed' | 'out' | 'in';

// The tabs of one browser share one sign-in and notify each other of changes.
const tabs = new BroadcastChannel('switchyard');
/** The tab in which the user is signing out. */
let leaving: Exclude<SignOutCause, 'REFUSED'> | null = null;

tabs.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => {
  if (data === 'stayed') leaving = null;
  if (data === 'leaving' || data === 'out') leaving = 'OTHER_TAB';
  if (data === 'out') notifySignedOut();
  if (data === 'in') for (const each of [...listeners]) each.entered();
});

// For the case that the tab that signed in closed before it notified the others.
onOtherSignIn(() => {
  for (const each of [...listeners]) each.entered();
});

/** Makes the listener show the sign-in form. While a user signs out, a refusal has that cause. */
export function notifySignedOut(): void {
  for (const each of [...listeners]) each.out(leaving ?? 'REFUSED');
}

/** Makes the listener reload the pages. */
export function notifyOtherViewer(): void {
  for (const each of [...listeners]) each.other();
}

/** Signs out here and in every tab; false if the service could not be reached, in which case all stay signed in. */
export async function signOut(): Promise<boolean> {
  leaving = 'HERE';
  tabs.postMessage('leaving' satisfies TabMessage);
  const headers = consoleHeaders();
  let address: string | null = null;
  const end = async (credentials: RequestCredentials) => {
    const response = await fetch('/console/session', { method: 'DELETE', headers, credentials }).catch(() => null);
    const body =
      response?.status === 200 ? ((await response.json().catch(() => null)) as { address?: string } | null) : null;
    address = body?.address ?? null;
    // 401: the sign-in had already ended.
    return response?.ok === true || response?.status === 401;
  };
  // The page secret is enough. Cookies that another server of the host has set may make a request with them too large.
  const isOut = (await end('same-origin')) || (await end('omit'));
  if (isOut) storePageSecret(null);
  tabs.postMessage((isOut ? 'out' : 'stayed') satisfies TabMessage);
  if (isOut) notifySignedOut();
  else leaving = null;
  // The page of the identity provider that ends its session too, and leads back.
  if (address !== null) location.assign(address);
  return isOut;
}

/** Call after a sign-in here; notifies the other tabs. */
export function notifySignedIn(): void {
  leaving = null;
  tabs.postMessage('in' satisfies TabMessage);
}

/** Registers a listener; returns a function that removes it. */
export function onSignIn(listener: SignInListener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Call when the signed-in user is known: later sign-out messages do not refer to the previous user. */
export function clearLeaving(): void {
  leaving = null;
}
