import { type RefObject, useEffect, useRef } from 'react';
import { isInDialog, isTyping } from './focus.ts';

/** `j` and `k` move down and up along the elements with `data-list-item`; `x` checks the current row. */
export function useListKeys<T extends HTMLElement>(): RefObject<T | null> {
  const list = useRef<T>(null);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target) || isInDialog()) return;
      const items = [...(list.current?.querySelectorAll<HTMLElement>('[data-list-item]') ?? [])];
      const at = items.indexOf(document.activeElement as HTMLElement);
      if (event.key === 'j') items[Math.min(at + 1, items.length - 1)]?.focus();
      if (event.key === 'k') items[Math.max(at - 1, 0)]?.focus();
      if (event.key === 'x')
        items[at]?.closest('li, tr')?.querySelector<HTMLInputElement>('[type="checkbox"]')?.click();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  return list;
}
