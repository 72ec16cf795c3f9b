import { type RefObject, useLayoutEffect, useState } from 'react';

/** Returns true while an element is at least so many pixels wide. It is measured before the first paint. */
export function useIsWide(box: RefObject<HTMLElement | null>, width: number): boolean {
  const [isWide, setWide] = useState(false);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    setWide(element.clientWidth >= width);
    const observer = new ResizeObserver(() => setWide(element.clientWidth >= width));
    observer.observe(element);
    return () => observer.disconnect();
  }, [box, width]);
  return isWide;
}
