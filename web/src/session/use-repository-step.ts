import { useEffect, useRef } from 'react';
import type { Entry, EntryOf } from './entry.ts';

/**
 * Returns the last step of a repository in the log; null: there is none. `onChange` is called after a repository has another
 * state, which the session has too then.
 */
export function useRepositoryStep(entries: readonly Entry[], onChange: () => void): EntryOf<'RepositoryEvent'> | null {
  const step = entries.findLast((entry) => entry.__typename === 'RepositoryEvent') ?? null;
  const state = step === null ? null : `${step.repository} ${step.repositoryState}`;
  const seen = useRef(state);
  useEffect(() => {
    if (seen.current === state) return;
    seen.current = state;
    onChange();
  }, [state, onChange]);
  return step;
}
