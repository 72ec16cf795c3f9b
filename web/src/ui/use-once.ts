import { useEffect, useRef } from 'react';

/** Calls a function after the first render, and never again: also if React mounts the component twice. */
export function useOnce(run: () => Promise<void>): void {
  const hasStarted = useRef(false);
  useEffect(() => {
    if (hasStarted.current) return;
    hasStarted.current = true;
    void run();
  }, [run]);
}
