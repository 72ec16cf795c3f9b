const prefix = 'switchyard:draft:';

/** The place of a draft: this tab, while it is open, or all tabs of this browser. */
export type DraftScope = 'tab' | 'browser';

const storageOf = (scope: DraftScope): Storage => (scope === 'tab' ? sessionStorage : localStorage);

/** Reads a stored draft; null if there is none. */
export function findDraft<T>(name: string, scope: DraftScope = 'tab'): T | null {
  try {
    return JSON.parse(storageOf(scope).getItem(prefix + name) ?? 'null') as T | null;
  } catch {
    return null;
  }
}

/** Stores a draft; null deletes it. Never store secrets: the browser's storage is not encrypted. */
export function saveDraft(name: string, value: object | string | null, scope: DraftScope = 'tab'): void {
  try {
    if (value === null) storageOf(scope).removeItem(prefix + name);
    else storageOf(scope).setItem(prefix + name, JSON.stringify(value));
  } catch {
    // The storage is full; the page still has the input.
  }
}

/** Calls the listener when another tab changes a draft of the scope `browser`. Returns a function that removes the listener. */
export function onDraftChange(name: string, listener: () => void): () => void {
  const hear = ({ key, storageArea }: StorageEvent) => {
    if (storageArea === localStorage && key === prefix + name) listener();
  };
  addEventListener('storage', hear);
  return () => removeEventListener('storage', hear);
}

const ownerKey = 'switchyard:drafts-of';

/** Deletes the drafts of other users in this browser. */
export function forgetOthersDrafts(owner: string): void {
  for (const storage of [sessionStorage, localStorage]) {
    if (storage.getItem(ownerKey) === owner) continue;
    for (const key of Object.keys(storage)) if (key.startsWith(prefix)) storage.removeItem(key);
    storage.setItem(ownerKey, owner);
  }
}
