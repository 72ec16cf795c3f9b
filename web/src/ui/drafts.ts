const prefix = 'switchyard:draft:';

/** Reads a draft stored in this tab; null if there is none. */
export function findDraft<T>(name: string): T | null {
  try {
    return JSON.parse(sessionStorage.getItem(prefix + name) ?? 'null') as T | null;
  } catch {
    return null;
  }
}

/**
 * Stores a draft while this tab is open; null deletes it. Never store secrets: the browser's storage is not encrypted.
 */
export function saveDraft(name: string, value: object | string | null): void {
  try {
    if (value === null) sessionStorage.removeItem(prefix + name);
    else sessionStorage.setItem(prefix + name, JSON.stringify(value));
  } catch {
    // The storage is full; the page still has the input.
  }
}

const ownerKey = 'switchyard:drafts-of';

/** Deletes the drafts of other users in this tab. */
export function forgetOthersDrafts(owner: string): void {
  if (sessionStorage.getItem(ownerKey) === owner) return;
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key);
  sessionStorage.setItem(ownerKey, owner);
}
