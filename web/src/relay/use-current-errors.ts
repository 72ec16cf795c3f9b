import { useEffect, useState } from 'react';
import { common } from '../texts/common.ts';
import { whenReachable } from './connectivity.ts';

interface Problem {
  readonly message: string;
  readonly path?: readonly string[] | null | undefined;
}

/** Replaces the message that the service cannot be reached once it answers again: the form can be sent then. */
export function useCurrentErrors<T extends Problem>(errors: readonly T[] | null): readonly T[] | null {
  const [answered, setAnswered] = useState<readonly T[] | null>(null);
  useEffect(() => {
    if (errors?.some(isUnreachable) !== true) return undefined;
    let isCurrent = true;
    void whenReachable().then(() => {
      if (isCurrent) setAnswered(errors);
    });
    return () => {
      isCurrent = false;
    };
  }, [errors]);
  if (errors === null || answered !== errors) return errors;
  return errors.map((error) => (isUnreachable(error) ? { ...error, message: common.reachableAgain } : error));
}

const isUnreachable = ({ message }: Problem): boolean => message === common.notReachable;
