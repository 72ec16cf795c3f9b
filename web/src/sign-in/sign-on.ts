import { consoleHeaders, storePageSecret } from '../relay/page-secret.ts';
import { common } from '../texts/common.ts';
import { signOn as texts } from '../texts/sign-on.ts';

/** An identity provider with which users sign in. */
export interface Provider {
  readonly id: string;
  readonly label: string;
}

/** The providers, and the one that the user of this browser signed in with; null: none, or a token was used. */
export interface Providers {
  readonly providers: readonly Provider[];
  readonly provider: Provider | null;
}

const path = '/console/sign-on';
const key = 'switchyard:sign-on';
const callbackPath = /^\/sign-in\/callback\/([^/]+)$/;

/** The page that confirms the sign-in in a tab of its own. */
export const confirmPath = '/sign-in/confirm';

interface Answer {
  readonly reason?: string;
  readonly message?: string;
}

/** The result of a request: its content, or the text of a refusal. */
type Outcome<T> = { readonly content: T } | { readonly problem: string };

async function post<T>(to: string, body: unknown): Promise<Outcome<T>> {
  try {
    const response = await fetch(to, {
      method: 'POST',
      credentials: 'same-origin',
      headers: { 'content-type': 'application/json', ...consoleHeaders() },
      body: JSON.stringify(body),
    });
    const answer = (await response.json().catch(() => null)) as (T & Answer) | null;
    if (response.ok && answer !== null) return { content: answer };
    return { problem: problemOf(answer, response.status) };
  } catch {
    return { problem: common.notReachable };
  }
}

function problemOf(answer: Answer | null, status: number): string {
  const { reason } = answer ?? {};
  const known: Readonly<Record<string, string>> = texts.reasons;
  if (reason !== undefined && Object.hasOwn(known, reason)) return known[reason] ?? '';
  return answer?.message ?? texts.unexpectedStatus({ status });
}

/** Reads the identity providers. Without an answer there are none: users can still sign in with a token. */
export async function fetchProviders(): Promise<Providers> {
  try {
    const response = await fetch(path, { credentials: 'same-origin', headers: consoleHeaders() });
    if (response.ok) return (await response.json()) as Providers;
  } catch {
    // The form shows it when the user signs in.
  }
  return { providers: [], provider: null };
}

/** Sends the browser to a provider. Returns the problem if that is not possible. */
export async function beginSignOn(
  provider: string,
  options: { readonly isConfirmation: boolean },
): Promise<string | null> {
  const { pathname, search } = location;
  const body = { provider, returnTo: `${pathname}${search}`, ...options };
  const begun = await post<{ readonly address: string; readonly transaction: string }>(path, body);
  if ('problem' in begun) return begun.problem;
  try {
    const stored: Stored = { transaction: begun.content.transaction, isConfirmation: options.isConfirmation };
    sessionStorage.setItem(key, JSON.stringify(stored));
  } catch {
    return texts.needsStorage;
  }
  location.assign(begun.content.address);
  return null;
}

/** The part of a sign-in that this tab keeps while the browser is at the provider. */
interface Stored {
  readonly transaction: string;
  readonly isConfirmation: boolean;
}

/** The answer of a provider in the address of this page. */
export interface ProviderAnswer extends Stored {
  readonly provider: string;
  readonly parameters: string;
}

/**
 * Returns the answer of a provider that the address of this page has, and removes it from the address; null: it has none. It counts
 * once, together with the sign-in that this tab has begun.
 */
export function takeAnswer(): ProviderAnswer | null {
  const [, provider] = callbackPath.exec(location.pathname) ?? [];
  if (provider === undefined) return null;
  const parameters = location.search.slice(1);
  history.replaceState(null, '', '/sign-in');
  let stored: Stored | null = null;
  try {
    stored = JSON.parse(sessionStorage.getItem(key) ?? 'null') as Stored | null;
    sessionStorage.removeItem(key);
  } catch {
    // Without it, the service says that the sign-in has expired.
  }
  return { provider, parameters, transaction: '', isConfirmation: false, ...stored };
}

/** A sign-in that is complete. */
interface Completed {
  /** Missing: the session of this browser is confirmed. */
  readonly pageSecret?: string;
  /** A path of this service. */
  readonly returnTo: string;
}

/** Sends the answer of a provider to the service, and stores the page secret of the new session. */
export async function completeSignOn({
  provider,
  transaction,
  parameters,
}: ProviderAnswer): Promise<Outcome<Completed>> {
  const completed = await post<Completed>(`${path}/completion`, { provider, transaction, parameters });
  if ('content' in completed && completed.content.pageSecret !== undefined) {
    storePageSecret(completed.content.pageSecret);
  }
  return completed;
}

const confirmations = new BroadcastChannel('switchyard-confirmation');

/** Tells the other tabs that the session is confirmed. */
export const announceConfirmation = (): void => confirmations.postMessage('confirmed');

/** Calls `listener` when another tab has confirmed the session. Returns a function that unsubscribes. */
export function onConfirmation(listener: () => void): () => void {
  confirmations.addEventListener('message', listener);
  return () => confirmations.removeEventListener('message', listener);
}
