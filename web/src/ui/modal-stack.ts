import { useSyncExternalStore } from 'react';

// The open dialogs, topmost last.
let stack: readonly HTMLElement[] = [];
const listeners = new Set<() => void>();

function change(next: readonly HTMLElement[]): void {
  stack = next;
  for (const each of [...listeners]) each();
}

/** Registers a dialog when it opens; returns a function for when it closes. */
export function pushModal(dialog: HTMLElement): () => void {
  change([...stack, dialog]);
  return () => change(stack.filter((each) => each !== dialog));
}

/** The topmost dialog: everything outside is inert. Null: there is none. */
export function useTopModal(): HTMLElement | null {
  return useSyncExternalStore(subscribe, () => stack.at(-1) ?? null);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
