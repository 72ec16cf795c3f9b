import { useCallback, useState } from 'react';
import { useSigned } from './gate.tsx';

/**
 * A choice of the signed-in user that this browser remembers, such as the width of a pane; null: none. Never use it for
 * content: other users of the browser can read it.
 */
export function useRemembered(name: string): readonly [value: string | null, remember: (value: string) => void] {
  const key = `switchyard:${name}:${useSigned().viewer.principal?.id ?? ''}`;
  const [value, setValue] = useState(() => localStorage.getItem(key));
  const remember = useCallback(
    (next: string) => {
      setValue(next);
      try {
        localStorage.setItem(key, next);
      } catch {
        // The storage is full: it is remembered until the page is left.
      }
    },
    [key],
  );
  return [value, remember];
}
