import { useEffect, useLayoutEffect, useReducer, useRef } from 'react';

/** Share of the time that rendering a growing text may take: one part in this many. */
const parts = 8;

/**
 * Returns a text that grows, less often if it is slow to render. A text that is complete (`isOpen` false), or that was
 * replaced, is returned at once.
 */
export function usePacedText(text: string, isOpen: boolean): string {
  const [, renderAgain] = useReducer((count: number) => count + 1, 0);
  const shown = useRef({ text, at: 0, costMs: 0 });
  const startedAt = performance.now();
  const { at, costMs } = shown.current;
  const isDue = !isOpen || startedAt - at >= costMs * parts || !text.startsWith(shown.current.text);
  const next = isDue ? text : shown.current.text;
  useLayoutEffect(() => {
    if (shown.current.text === next && shown.current.at > 0) return;
    const now = performance.now();
    shown.current = { text: next, at: now, costMs: now - startedAt };
  });
  useEffect(() => {
    if (next === text) return;
    const waitMs = shown.current.at + shown.current.costMs * parts - performance.now();
    const timer = window.setTimeout(renderAgain, Math.max(0, waitMs));
    return () => clearTimeout(timer);
  }, [next, text]);
  return next;
}
