import { useSyncExternalStore } from 'react';

// What is in front of the page, the foremost last.
let stack: readonly HTMLElement[] = [];
const listeners = new Set<() => void>();

function change(next: readonly HTMLElement[]): void {
  stack = next;
  for (const each of [...listeners]) each();
}

/** To be called when a modal dialog comes up; gives what is to be called when it goes. */
export function pushModal(dialog: HTMLElement): () => void {
  change([...stack, dialog]);
  return () => change(stack.filter((each) => each !== dialog));
}

/** The foremost dialog: what is outside of it can neither be pressed nor is it read out. Null: there is none. */
export function useTopModal(): HTMLElement | null {
  return useSyncExternalStore(subscribe, () => stack.at(-1) ?? null);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
