import { useEffect, useLayoutEffect, useReducer, useRef } from 'react';
import { flushSync } from 'react-dom';

/** Share of the time that showing a growing text may take: one part in this many, beside the part itself. */
const parts = 8;
/** Of the costs of this many frames, the lowest counts: on a busy machine, most frames seem to cost more than they do. */
const rememberedCosts = 4;
/** Maximum time in ms between two frames with new text. */
const maxGapMs = 1_000;

/**
 * Returns a text that grows, less often if it is slow to show: the frames with its rendering, layout and painting take a bounded
 * share of the time. A text that is complete (`isOpen` false), or that was replaced, is returned at once.
 */
export function usePacedText(text: string, isOpen: boolean): string {
  const [, renderAgain] = useReducer((count: number) => count + 1, 0);
  const shown = useRef({ text, dueAt: 0, costs: [] as readonly number[] });
  const startedAt = performance.now();
  const isDue = !isOpen || startedAt >= shown.current.dueAt || !text.startsWith(shown.current.text);
  const next = isDue ? text : shown.current.text;
  useLayoutEffect(() => {
    const isShown = shown.current.text === next && shown.current.dueAt > 0;
    shown.current.text = next;
    if (isShown || !isOpen) return;
    // Not before the end of this frame.
    shown.current.dueAt = Math.max(shown.current.dueAt, startedAt);
    afterFrame(() => {
      const { current } = shown;
      const now = performance.now();
      current.costs = [...current.costs.slice(1 - rememberedCosts), now - startedAt];
      current.dueAt = now + Math.min(maxGapMs, Math.min(...current.costs) * parts);
    });
  });
  useEffect(() => {
    if (next === text) return;
    let frame = 0;
    // Within a frame, as new parts are rendered: its layout and painting follow before `afterFrame`.
    const timer = window.setTimeout(
      () => {
        frame = requestAnimationFrame(() => flushSync(renderAgain));
      },
      Math.max(0, shown.current.dueAt - performance.now()),
    );
    return () => {
      clearTimeout(timer);
      cancelAnimationFrame(frame);
    };
  }, [next, text]);
  return next;
}

/** Calls back after the frame whose callbacks run now has been painted. */
function afterFrame(callback: () => void): void {
  const channel = new MessageChannel();
  channel.port1.onmessage = () => {
    channel.port1.close();
    callback();
  };
  channel.port2.postMessage(null);
}
