import type { Services } from '../domain/context.ts';
import { failEndedBuilds } from '../domain/environment-builds/fail-ended-builds.ts';
import { pollEnvironments } from '../domain/environment-builds/want-reads.ts';
import { createPoller } from './poller.ts';
import type { Scheduled } from './retention.ts';

/** Time between two looks: no notification tells that a session of a build has ended without a result. */
const waitMs = 5_000;

/** Ends the builds of environments whose sessions have ended, and has environments in use read again. Any number of processes may do it at once. */
export function createEnvironmentBuilds(services: Services): Scheduled {
  const builds = createPoller(async () => {
    try {
      await failEndedBuilds(services);
      await pollEnvironments(services);
    } catch (error) {
      services.log.warn({ err: error }, 'Environment builds could not be checked.');
    }
    return waitMs;
  });
  return {
    start: () => builds.poll(),
    stop: () => builds.stop(),
  };
}
