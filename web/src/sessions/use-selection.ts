import { useCallback, useRef, useState } from 'react';

/** The rows of a list that the user has selected. */
export interface Selection {
  readonly selected: ReadonlySet<string>;
  readonly select: (sessionId: string, isSelected: boolean, isRange: boolean) => void;
  /** Selects these rows and no others. */
  readonly replace: (sessionIds: readonly string[]) => void;
}

/** Keeps the selected rows of a list, which shows these sessions. `isRange` selects all rows from the previous one on. */
export function useSelection(shown: readonly string[]): Selection {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const latest = useRef(shown);
  latest.current = shown;
  const last = useRef<string | null>(null);
  const select = useCallback((sessionId: string, isSelected: boolean, isRange: boolean) => {
    const [from, to] = [latest.current.indexOf(last.current ?? ''), latest.current.indexOf(sessionId)];
    const ids =
      isRange && from >= 0 && to >= 0 ? latest.current.slice(Math.min(from, to), Math.max(from, to) + 1) : [sessionId];
    last.current = sessionId;
    setSelected((before) => {
      const next = new Set(before);
      for (const id of ids) {
        if (isSelected) next.add(id);
        else next.delete(id);
      }
      return next;
    });
  }, []);
  const replace = useCallback((sessionIds: readonly string[]) => setSelected(new Set(sessionIds)), []);
  return { selected, select, replace };
}
