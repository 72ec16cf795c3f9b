import { useEffect, useRef } from 'react';
import type { Entry } from './entry.ts';

/** Calls `onChange` after a repository has another state in the log, which the session has too then. */
export function useRepositoryStep(entries: readonly Entry[], onChange: () => void): void {
  const step = entries.findLast((entry) => entry.__typename === 'RepositoryEvent');
  const state = step === undefined ? null : `${step.repository} ${step.repositoryState}`;
  const seen = useRef(state);
  useEffect(() => {
    if (seen.current === state) return;
    seen.current = state;
    onChange();
  }, [state, onChange]);
}
