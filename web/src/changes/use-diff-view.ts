import { type RefObject, useState } from 'react';
import { useIsWide } from '../ui/use-is-wide.ts';
import type { DiffView } from './diff-table.tsx';

const key = 'switchyard:diff-view';
/** The width in pixels that two columns of code need. */
const splitWidth = 640;

interface ChosenView {
  readonly view: DiffView;
  /** Null: there is too little room for a choice. */
  readonly choose: ((view: DiffView) => void) | null;
}

/** The arrangement of diffs that the user chose in this browser. In a narrow `box` it is always unified. */
export function useDiffView(box: RefObject<HTMLElement | null>): ChosenView {
  const [chosen, setChosen] = useState<DiffView>(() => (localStorage.getItem(key) === 'split' ? 'split' : 'unified'));
  if (!useIsWide(box, splitWidth)) return { view: 'unified', choose: null };
  const choose = (view: DiffView) => {
    localStorage.setItem(key, view);
    setChosen(view);
  };
  return { view: chosen, choose };
}
