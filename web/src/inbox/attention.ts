import { useSyncExternalStore } from 'react';
import attentionIcon from '../styles/icon-attention.svg';
import { setTitleCount } from '../ui/window-title.ts';

const listeners = new Set<() => void>();
let count = 0;
let plainIcon: string | null = null;

/** Sets the number of sessions that need a person: in the window's title, and as a dot in its icon. */
export function setAttention(next: number): void {
  if (next === count) return;
  count = next;
  setTitleCount(next);
  const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (icon) {
    plainIcon ??= icon.href;
    icon.href = next > 0 ? attentionIcon : plainIcon;
  }
  for (const listener of [...listeners]) listener();
}

/** Returns the number of sessions that need a person. */
export function useAttention(): number {
  return useSyncExternalStore(subscribe, () => count);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
