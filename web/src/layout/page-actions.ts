import { useEffect, useState, useSyncExternalStore } from 'react';
import type { IconName } from '../ui/icons.tsx';

/** Something that the palette can do. */
export interface PaletteAction {
  /** A verb with its object, such as "Archive session". Unique on its page. */
  readonly label: string;
  readonly icon: IconName;
  run(): void;
}

const registered = new Map<object, readonly PaletteAction[]>();
const listeners = new Set<() => void>();
let all: readonly PaletteAction[] = [];

/** Adds actions of the current page to the palette while the component is mounted. */
export function usePageActions(actions: readonly PaletteAction[]): void {
  const [key] = useState(() => ({}));
  // Each render has its own functions.
  useEffect(() => {
    registered.set(key, actions);
    publish();
  });
  useEffect(
    () => () => {
      registered.delete(key);
      publish();
    },
    [key],
  );
}

/** Returns the actions of the current page. */
export function useRegisteredActions(): readonly PaletteAction[] {
  return useSyncExternalStore(subscribe, () => all);
}

function publish(): void {
  all = [...registered.values()].flat();
  for (const listener of [...listeners]) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
