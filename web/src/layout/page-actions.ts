import { useEffect } from 'react';
import type { IconName } from '../ui/icons.tsx';

/** Something that the palette can do. */
export interface PaletteAction {
  /** A verb with its object, such as "Archive session". Unique on its page. */
  readonly label: string;
  readonly icon: IconName;
  run(): void;
}

const registered = new Set<readonly PaletteAction[]>();

/** Adds actions of the current page to the palette while the component is mounted. */
export function usePageActions(actions: readonly PaletteAction[]): void {
  // Each render has its own functions.
  useEffect(() => {
    registered.add(actions);
    return () => {
      registered.delete(actions);
    };
  });
}

/** Returns the actions of the current page. */
export function readPageActions(): readonly PaletteAction[] {
  return [...registered].flat();
}
