import { type RefObject, useLayoutEffect } from 'react';

/** The minimum and maximum height of a list, and its distance from the window's edge, in pixels. */
const height = { min: 160, max: 320 } as const;
const margin = 8;

/**
 * Shows a popover below its anchor, or above it if there is more room, at least as wide as the anchor; follows it
 * during scrolling. In the top layer, so that no dialog clips it.
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
      // An on-screen keyboard reduces the visible height.
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
    const observer = new ResizeObserver(position);
    observer.observe(anchor);
    const controller = new AbortController();
    const { signal } = controller;
    addEventListener('scroll', position, { signal, capture: true, passive: true });
    addEventListener('resize', position, { signal });
    window.visualViewport?.addEventListener('resize', position, { signal });
    return () => {
      observer.disconnect();
      controller.abort();
    };
  }, [isOpen, box, popup]);
}
