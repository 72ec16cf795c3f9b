import { RepositoryError } from './repository-error.ts';

/** Runs work with a signal that aborts after `ms`, too. Rejects with RepositoryError `TIMEOUT` if the time caused the failure. */
export async function inTime<T>(
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = AbortSignal.timeout(ms);
  try {
    return await work(AbortSignal.any([signal, timeout]));
  } catch (error) {
    if (!timeout.aborted || signal.aborted) throw error;
    throw timedOut(ms);
  }
}

function timedOut(ms: number): RepositoryError {
  const time = ms < 120_000 ? `${Math.round(ms / 1_000)} seconds` : `${Math.round(ms / 60_000)} minutes`;
  return new RepositoryError('TIMEOUT', `It took more than ${time}.`);
}
