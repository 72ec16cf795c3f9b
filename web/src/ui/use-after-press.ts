import { useCallback, useEffect, useRef } from 'react';

/**
 * Returns a function that calls another one when no mouse button is pressed: at once, or when the button is released. Use it for a change
 * that moves other parts of the page: a click needs its target at the same place when the button is pressed and released.
 */
export function useAfterPress(): (act: () => void) => void {
  const isPressed = useRef(false);
  const waiting = useRef<(() => void) | null>(null);
  useEffect(() => {
    const controller = new AbortController();
    // Before all other listeners, also of events whose propagation they stop.
    const options = { capture: true, signal: controller.signal };
    const release = () => {
      isPressed.current = false;
      const act = waiting.current;
      waiting.current = null;
      act?.();
    };
    addEventListener('mousedown', () => (isPressed.current = true), options);
    addEventListener('mouseup', release, options);
    // The release at the end of a drag sends no other event.
    addEventListener('dragend', release, options);
    return () => controller.abort();
  }, []);
  return useCallback((act) => {
    if (isPressed.current) waiting.current = act;
    else act();
  }, []);
}
