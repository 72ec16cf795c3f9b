import type { Services } from '../domain/context.ts';
import { nextEnvironmentReadAt } from '../domain/environment-builds/want-reads.ts';
import { createPoller } from './poller.ts';
import type { Scheduled } from './retention.ts';

/** Maximum time between two looks. */
const maxWaitMs = 5_000;
const minWaitMs = 250;

/**
 * Reads the environments of repositories that are due, in a worker, which has the mirrors of repositories. `readDue` reads one, and returns false if none
 * is due.
 */
export function createEnvironmentReads(
  services: Services,
  readDue: (signal: AbortSignal) => Promise<boolean>,
): Scheduled {
  const ended = new AbortController();
  const reads = createPoller(async (isStopped) => {
    try {
      while (!isStopped() && (await readDue(ended.signal)));
      const next = await nextEnvironmentReadAt(services);
      return next === null
        ? maxWaitMs
        : Math.max(minWaitMs, Math.min(maxWaitMs, next.getTime() - services.now().getTime()));
    } catch (error) {
      services.log.warn({ err: error }, 'The environments of repositories could not be read.');
      return maxWaitMs;
    }
  });
  let unsubscribe: () => void = () => undefined;
  return {
    start() {
      unsubscribe = services.notifier.subscribe('environments', reads.poll);
      reads.poll();
    },
    async stop() {
      unsubscribe();
      ended.abort();
      await reads.stop();
    },
  };
}
