import { useSyncExternalStore } from 'react';

/** The colour theme: the system's, or the user's choice. */
export type Theme = 'system' | 'light' | 'dark';

const key = 'switchyard:theme';
const listeners = new Set<() => void>();

/** Applies the choice that is stored in this browser. */
export function applyStoredTheme(): void {
  apply(readTheme());
}

/** Stores a choice in this browser, and applies it. */
export function setTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(key);
  else localStorage.setItem(key, theme);
  apply(theme);
  for (const listener of [...listeners]) listener();
}

/** Returns the current choice. */
export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, readTheme);
}

function readTheme(): Theme {
  const found = localStorage.getItem(key);
  return found === 'light' || found === 'dark' ? found : 'system';
}

function apply(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
