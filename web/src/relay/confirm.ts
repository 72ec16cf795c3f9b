import { useSyncExternalStore } from 'react';
import { common } from '../texts/common.ts';
import { confirm as texts } from '../texts/relay.ts';
import { consoleHeaders } from './page-secret.ts';

/** Shows a dialog that asks for the token. Resolves with true once the service has confirmed it, with false when the user declines. */
export type Asker = () => Promise<boolean>;

let asker: Asker | null = null;
let pending: Promise<boolean> | null = null;
const listeners = new Set<() => void>();

function setPending(next: Promise<boolean> | null): void {
  pending = next;
  for (const listener of listeners) listener();
}

/** Registers the function that asks for the token. Returns a function that unregisters it. */
export function onConfirmationNeeded(next: Asker): () => void {
  asker = next;
  return () => {
    if (asker === next) asker = null;
  };
}

/** Asks the user to confirm the sign-in. Concurrent requests share one dialog. */
export function confirmSignIn(): Promise<boolean> {
  if (pending !== null) return pending;
  const answer = (asker?.() ?? Promise.resolve(false)).finally(() => setPending(null));
  setPending(answer);
  return answer;
}

const listen = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Returns true while the user is asked for the token: requests wait for the answer. */
export const useIsConfirming = (): boolean => useSyncExternalStore(listen, () => pending !== null);

/** The service's response to a token: `ended` if the browser is no longer signed in. */
export type Confirmation =
  | { readonly is: 'confirmed' }
  | { readonly is: 'ended' }
  | { readonly is: 'refused'; readonly message: string };

/** Sends the token to the service, which compares it with the key of the sign-in. */
export async function sendConfirmation(token: string): Promise<Confirmation> {
  try {
    const response = await fetch('/console/session/confirmation', {
      method: 'POST',
      credentials: 'same-origin',
      headers: { 'content-type': 'application/json', ...consoleHeaders() },
      body: JSON.stringify({ token }),
    });
    if (response.ok) return { is: 'confirmed' };
    if (response.status === 401) return { is: 'ended' };
    const body = (await response.json().catch(() => null)) as { readonly message?: string } | null;
    return { is: 'refused', message: body?.message ?? texts.unexpectedStatus({ status: response.status }) };
  } catch {
    return { is: 'refused', message: common.notReachable };
  }
}
