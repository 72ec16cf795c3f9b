import { useEffect, useRef } from 'react';

/** Elements over the page, which Escape closes. */
const overlays = 'dialog[open], [aria-modal="true"], [role="listbox"], [role="menu"], [popover]:popover-open';

/**
 * Calls a function when the user presses Escape and nothing else uses the key: no dialog, menu or list is open, and no
 * field has cancelled the event. Null: nothing to do.
 */
export function useEscape(onEscape: (() => void) | null): void {
  const latest = useRef(onEscape);
  latest.current = onEscape;
  const isActive = onEscape !== null;
  useEffect(() => {
    if (!isActive) return;
    let isUsed = false;
    // Before the page handles the key: a list that it closes was open.
    const look = (event: KeyboardEvent) => {
      if (event.key === 'Escape') isUsed = document.querySelector(overlays) !== null;
    };
    const press = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || isUsed || event.defaultPrevented || event.isComposing || event.repeat) return;
      // The browser shows the list of a select over the page.
      if (event.target instanceof HTMLSelectElement) return;
      latest.current?.();
    };
    window.addEventListener('keydown', look, true);
    window.addEventListener('keydown', press);
    return () => {
      window.removeEventListener('keydown', look, true);
      window.removeEventListener('keydown', press);
    };
  }, [isActive]);
}
