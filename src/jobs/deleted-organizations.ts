import type { Services } from '../domain/context.ts';
import { terminateSessionsOfDeletedOrganizations } from '../domain/sessions/deleted-organizations.ts';
import type { Scheduled } from './retention.ts';

/** How often what a lost ring or a crash may have left behind is looked for. */
const everyMs = 60 * 60 * 1_000;

/**
 * Terminates the sessions of deleted organizations: when one is deleted, at the start for what a crash left behind, and
 * now and then. That no agent goes on meanwhile is the workers' part: they neither claim nor keep such sessions.
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
        services.log.warn({ err: error }, 'The sessions of deleted organizations could not be looked through.'),
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
