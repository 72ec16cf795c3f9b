import { useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { listAddress } from '../sessions/list-position.ts';
import { isTyping } from '../ui/focus.ts';
import { useEscape } from '../ui/use-escape.ts';

/** The time in ms after a turn in which Escape does nothing: it was probably meant to stop the agent. */
const restMs = 1_000;

/** Returns to the list of sessions on Escape, unless the agent works: Escape then stops it. In a field, it leaves the field. */
export function useReturn(isWorking: boolean): void {
  const [, go] = useLocation();
  const endedAt = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    if (!isWorking) return;
    return () => {
      endedAt.current = performance.now();
    };
  }, [isWorking]);
  useEscape(
    isWorking
      ? null
      : () => {
          const { activeElement } = document;
          if (activeElement instanceof HTMLElement && isTyping(activeElement)) activeElement.blur();
          else if (performance.now() - endedAt.current > restMs) go(listAddress());
        },
  );
}
