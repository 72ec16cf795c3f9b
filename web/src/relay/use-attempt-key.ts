import { useCallback, useRef } from 'react';
import { newKey } from './new-key.ts';

/**
 * Returns the idempotency key of an input: the same one while the input is the same, because the response to an earlier attempt may have
 * been lost.
 */
export function useAttemptKey(): (input: unknown) => string {
  const attempt = useRef<{ readonly what: string; readonly key: string } | null>(null);
  return useCallback((input) => {
    const what = JSON.stringify(input);
    if (attempt.current?.what !== what) attempt.current = { what, key: newKey() };
    return attempt.current.key;
  }, []);
}
