import { type RefObject, useLayoutEffect } from 'react';

/** The least and the most that a list may be high, and how far it stays from the edge of the window, in pixels. */
const height = { min: 160, max: 320 } as const;
const margin = 8;

/**
 * Shows a popover below a box, or above it where there is more room, as wide as the box at least; follows it when anything
 * is scrolled. Above all else, so that no dialog cuts it off.
 */
export function usePopoverPosition(
  isOpen: boolean,
  box: RefObject<HTMLElement | null>,
  popup: RefObject<HTMLElement | null>,
): void {
  useLayoutEffect(() => {
    const [anchor, list] = [box.current, popup.current];
    if (!isOpen || !anchor || !list) return;
    list.showPopover();
    const position = () => {
      const { left, top, bottom, width } = anchor.getBoundingClientRect();
      // A keyboard on the screen takes from the window what is not seen of it.
      const seen = (window.visualViewport?.height ?? innerHeight) + (window.visualViewport?.offsetTop ?? 0);
      const [above, below] = [top - margin, seen - bottom - margin];
      const isBelow = below >= height.min || below >= above;
      const wide = Math.min(Math.max(width, 256), innerWidth - 2 * margin);
      Object.assign(list.style, {
        left: `${Math.max(margin, Math.min(left, innerWidth - margin - wide))}px`,
        width: `${wide}px`,
        maxHeight: `${Math.min(height.max, isBelow ? below : above)}px`,
        top: isBelow ? `${bottom + 4}px` : 'auto',
        bottom: isBelow ? 'auto' : `${innerHeight - top + 4}px`,
      });
    };
    position();
    const controller = new AbortController();
    const { signal } = controller;
    addEventListener('scroll', position, { signal, capture: true, passive: true });
    addEventListener('resize', position, { signal });
    window.visualViewport?.addEventListener('resize', position, { signal });
    return () => controller.abort();
  }, [isOpen, box, popup]);
}
