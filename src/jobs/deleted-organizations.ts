import type { Services } from '../domain/context.ts';
import { terminateSessionsOfDeletedOrganizations } from '../domain/sessions/deleted-organizations.ts';
import type { Scheduled } from './retention.ts';

/** Interval of the search for what a missed notification or a crash has left behind. */
const everyMs = 60 * 60 * 1_000;

/**
 * Terminates the sessions of deleted organizations: after a deletion, at the start (after a crash), and at intervals.
 * The workers stop the agents meanwhile: they neither claim nor keep such sessions.
 */
export function createDeletedOrganizations(services: Services): Scheduled {
  let timer: NodeJS.Timeout | null = null;
  let unsubscribe: () => void = () => undefined;
  let isAgain = false;
  let isStopped = false;
  let running: Promise<void> | null = null;

  const sweep = async () => {
    while (isAgain && !isStopped) {
      isAgain = false;
      const count = await terminateSessionsOfDeletedOrganizations(services, () => isStopped);
      if (count > 0) services.log.info({ count }, 'Sessions of deleted organizations were terminated.');
    }
  };
  const requestSweep = () => {
    isAgain = true;
    running ??= sweep()
      .catch((error: unknown) =>
        services.log.warn({ err: error }, 'Sessions of deleted organizations could not be terminated.'),
      )
      .finally(() => {
        running = null;
        if (isAgain && !isStopped) requestSweep();
      });
  };
  return {
    start() {
      unsubscribe = services.notifier.subscribe('organizations', requestSweep);
      timer = setInterval(requestSweep, everyMs).unref();
      requestSweep();
    },
    async stop() {
      isStopped = true;
      unsubscribe();
      if (timer) clearInterval(timer);
      timer = null;
      await running;
    },
  };
}
