import { newKey } from '../relay/new-key.ts';

const key = 'switchyard:sign-in-link';
const userKey = 'switchyard:user-link';

/** A one-time sign-in link that this tab has opened. */
export interface SignInLink {
  readonly link: string;
  /** Only this tab knows it. With it, the tab can use the link again if it is loaded again before the answer arrives. */
  readonly attempt: string;
}

/**
 * Returns the sign-in link of the URL, or the one that this tab has not finished. Its code follows the "#", which browsers do
 * not send to servers, and is removed from the URL at once. The storage of the tab keeps it until {@link forgetLink}.
 */
export function takeLink(): SignInLink | null {
  const link = new URLSearchParams(location.hash.slice(1)).get('link');
  if (link === null) return readStored();
  history.replaceState(null, '', location.pathname);
  const taken = { link, attempt: newKey() };
  try {
    sessionStorage.setItem(key, JSON.stringify(taken));
  } catch {
    // Without storage, a reload loses the link.
  }
  return taken;
}

/** Forgets the link of this tab: it was used or refused, or the user signed in otherwise. */
export function forgetLink(): void {
  try {
    sessionStorage.removeItem(key);
  } catch {
    // It was not stored.
  }
}

/** A link that an administrator has created for a user. */
export interface UserLink {
  readonly userLink: string;
}

/** Returns the link for a user of the URL, as {@link takeLink} does. It is used only when the user presses a button. */
export function takeUserLink(): UserLink | null {
  const code = new URLSearchParams(location.hash.slice(1)).get('user-link');
  try {
    if (code !== null) sessionStorage.setItem(userKey, code);
  } catch {
    // Without storage, a reload loses the link.
  }
  if (code !== null) history.replaceState(null, '', location.pathname);
  const userLink = code ?? readText(userKey);
  return userLink === null ? null : { userLink };
}

/** Forgets the link for a user: it was used or refused. */
export function forgetUserLink(): void {
  try {
    sessionStorage.removeItem(userKey);
  } catch {
    // It was not stored.
  }
}

const signedInKey = 'switchyard:signed-in-by-link';

/** Remembers in this browser if a link signed the user in: the user may have no other way to sign in yet. */
export function rememberSignIn(isByLink: boolean): void {
  try {
    if (isByLink) localStorage.setItem(signedInKey, 'true');
    else localStorage.removeItem(signedInKey);
  } catch {
    // Without storage, nothing reminds the user to create a token.
  }
}

/** Returns true if the last sign-in in this browser was by a link. */
export function isSignedInByLink(): boolean {
  try {
    return localStorage.getItem(signedInKey) !== null;
  } catch {
    return false;
  }
}

function readText(name: string): string | null {
  try {
    return sessionStorage.getItem(name);
  } catch {
    return null;
  }
}

function readStored(): SignInLink | null {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? 'null') as SignInLink | null;
  } catch {
    return null;
  }
}
