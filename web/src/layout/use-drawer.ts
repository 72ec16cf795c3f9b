import { type RefObject, useEffect, useRef } from 'react';
import { isInDialog, isLost } from '../ui/focus.ts';

const focusable = ['a[href]', 'button', 'input', 'select', 'textarea', 'summary']
  .map((each) => `${each}:not(:disabled)`)
  .join();

/** The elements of a drawer: the drawer itself, and one whose first button opens it. */
interface Drawer {
  readonly drawer: RefObject<HTMLElement | null>;
  readonly opener: RefObject<HTMLElement | null>;
}

/**
 * Moves the focus into a drawer over the page when it opens, keeps it there, and moves it back to the button when it closes.
 * Escape closes the drawer.
 */
export function useDrawer(isOpen: boolean, close: () => void): Drawer {
  const drawer = useRef<HTMLElement>(null);
  const opener = useRef<HTMLElement>(null);
  const latest = useRef(close);
  latest.current = close;
  useEffect(() => {
    const element = drawer.current;
    if (!isOpen || !element) return;
    const path = location.pathname;
    const find = () =>
      [...element.querySelectorAll<HTMLElement>(focusable)].filter(
        (each) => each.checkVisibility() && each.tabIndex >= 0,
      );
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || isInDialog()) return;
      if (event.key === 'Escape') {
        event.preventDefault();
        latest.current();
      }
      if (event.key !== 'Tab') return;
      const all = find();
      const [first, last] = [all[0], all.at(-1)];
      const active = document.activeElement;
      if (element.contains(active) && active !== (event.shiftKey ? first : last)) return;
      event.preventDefault();
      (event.shiftKey ? last : first)?.focus();
    };
    let frame = 0;
    // An element takes the focus only once the drawer is visible.
    const enter = () => {
      find()[0]?.focus();
      if (!element.contains(document.activeElement)) frame = requestAnimationFrame(enter);
    };
    enter();
    window.addEventListener('keydown', press);
    return () => {
      cancelAnimationFrame(frame);
      window.removeEventListener('keydown', press);
      // A page that was chosen in the drawer takes the focus itself.
      if (location.pathname === path && (isLost() || element.contains(document.activeElement))) {
        opener.current?.querySelector('button')?.focus();
      }
    };
  }, [isOpen]);
  return { drawer, opener };
}
