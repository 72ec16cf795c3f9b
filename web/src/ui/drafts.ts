const prefix = 'switchyard:draft:';

/** What was half written under a name in this tab; null where nothing was. */
export function findDraft<T>(name: string): T | null {
  try {
    return JSON.parse(sessionStorage.getItem(prefix + name) ?? 'null') as T | null;
  } catch {
    return null;
  }
}

/**
 * Keeps what is half written, for this tab and as long as it is open; null: there is nothing to keep. Nothing secret may go in
 * here: it lies in the browser in the clear.
 */
export function saveDraft(name: string, value: object | string | null): void {
  try {
    if (value === null) sessionStorage.removeItem(prefix + name);
    else sessionStorage.setItem(prefix + name, JSON.stringify(value));
  } catch {
    // The browser has no room for it: it is in the page all the same.
  }
}

const ownerKey = 'switchyard:drafts-of';

/** What was half written in this tab is shown to nobody but who wrote it. */
export function forgetOthersDrafts(owner: string): void {
  if (sessionStorage.getItem(ownerKey) === owner) return;
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key);
  sessionStorage.setItem(ownerKey, owner);
}
