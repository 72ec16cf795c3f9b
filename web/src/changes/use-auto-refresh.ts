import { useCallback, useEffect, useRef, useState } from 'react';
import { RefreshPace } from './refresh-pace.ts';

interface AutoRefreshOptions {
  /** True while a turn is open whose changes are shown. */
  readonly isActive: boolean;
  /** The log position at which the agent last changed files or ended a command; null: none. */
  readonly workEnd: number | null;
  /** The time of the last stored changes. */
  readonly updatedAt: string | null;
  readonly refresh: () => void;
}

/**
 * Compares by itself after the agent has changed files or ended a command, while the page is visible. Returns a function to call
 * when the user requests a comparison: the next one then waits.
 */
export function useAutoRefresh({ isActive, workEnd, updatedAt, refresh }: AutoRefreshOptions): () => void {
  const latest = useRef(refresh);
  latest.current = refresh;
  const [pace] = useState(
    () =>
      new RefreshPace(
        () => latest.current(),
        () => !document.hidden,
      ),
  );
  useEffect(() => {
    const look = () => pace.look();
    document.addEventListener('visibilitychange', look);
    return () => {
      document.removeEventListener('visibilitychange', look);
      pace.stop();
    };
  }, [pace]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: also those that other users requested.
  useEffect(() => pace.note(), [pace, updatedAt]);
  const seen = useRef(workEnd);
  useEffect(() => {
    if (!isActive) pace.stop();
    if (seen.current === workEnd) return;
    seen.current = workEnd;
    if (isActive && workEnd !== null) pace.want();
  }, [pace, isActive, workEnd]);
  return useCallback(() => pace.note(), [pace]);
}
