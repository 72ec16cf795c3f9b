const key = 'switchyard:page-secret';

// For browsers without storage: the sign-in then lasts as long as the tab.
let inMemory: string | null = null;

/**
 * The half of the sign-in that is not in the cookie. It is in the storage of this origin (scheme, host and port), so
 * that all tabs have it and no server on another port does; browsers send the cookie to those. Read it for each
 * request: another tab may have signed in or out.
 */
export function pageSecret(): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return inMemory;
  }
}

/**
 * Returns true if another tab has signed in since a request with the page secret `before` was sent. A refusal of that
 * request says nothing about the new sign-in. Tabs do not see a new page secret at the same time as other changes of
 * the sign-in.
 */
export function isSignedInSince(before: string | null): boolean {
  const current = pageSecret();
  return current !== null && current !== before;
}

/** Stores the page secret of a sign-in; null: nobody is signed in any more. */
export function storePageSecret(secret: string | null): void {
  try {
    if (secret === null) localStorage.removeItem(key);
    else localStorage.setItem(key, secret);
  } catch {
    inMemory = secret;
  }
}

/** The headers of every request of the console: the client name and the page secret. */
export function consoleHeaders(): Record<string, string> {
  const secret = pageSecret();
  // Only pages of this service may send these headers; without them the service ignores the cookie.
  return { 'switchyard-client': 'console', ...(secret === null ? {} : { 'switchyard-page-secret': secret }) };
}

/** Calls `listener` when another tab has signed in. Returns a function that unsubscribes. */
export function onOtherSignIn(listener: () => void): () => void {
  const changed = ({ key: name, newValue }: StorageEvent) => {
    if (name === key && newValue !== null) listener();
  };
  addEventListener('storage', changed);
  return () => removeEventListener('storage', changed);
}
