import { useState, useSyncExternalStore } from 'react';
import type { DiffView } from './diff-table.tsx';

const key = 'switchyard:diff-view';
/** Two columns of code need more room. */
const wide = window.matchMedia('(min-width: 800px)');

const listen = (listener: () => void) => {
  wide.addEventListener('change', listener);
  return () => wide.removeEventListener('change', listener);
};

interface ChosenView {
  readonly view: DiffView;
  /** Null: the screen is too narrow for a choice. */
  readonly choose: ((view: DiffView) => void) | null;
}

/** The arrangement of diffs that the user chose in this browser. On a narrow screen it is always unified. */
export function useDiffView(): ChosenView {
  const [chosen, setChosen] = useState<DiffView>(() => (localStorage.getItem(key) === 'split' ? 'split' : 'unified'));
  const isWide = useSyncExternalStore(listen, () => wide.matches);
  if (!isWide) return { view: 'unified', choose: null };
  const choose = (view: DiffView) => {
    localStorage.setItem(key, view);
    setChosen(view);
  };
  return { view: chosen, choose };
}
