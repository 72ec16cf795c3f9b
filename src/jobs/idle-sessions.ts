import type { Services } from '../domain/context.ts';
import { expireSessions, suspendIdleSessions } from '../domain/sessions/idle-sessions.ts';
import { repeated, type Scheduled } from './retention.ts';

/** Idle times in ms after which sessions are suspended and expire; null: never. */
export interface IdleTimes {
  readonly idleSuspendMs: number | null;
  readonly sessionExpiryMs: number | null;
}

const minEveryMs = 200;
const maxEveryMs = 60_000;

/**
 * Suspends sessions that have waited too long for the user, and ends sessions that have been suspended for too long.
 */
export function createIdleSessions(services: Services, { idleSuspendMs, sessionExpiryMs }: IdleTimes): Scheduled {
  const shorterMs = Math.min(idleSuspendMs ?? Number.POSITIVE_INFINITY, sessionExpiryMs ?? Number.POSITIVE_INFINITY);
  const everyMs = Math.max(minEveryMs, Math.min(maxEveryMs, shorterMs / 4));
  const { log } = services;
  return repeated(everyMs, async (isStopped) => {
    try {
      const asleep = idleSuspendMs === null ? 0 : await suspendIdleSessions(services, idleSuspendMs, isStopped);
      if (asleep > 0) log.info({ count: asleep }, 'Idle sessions were put to sleep.');
      const over = sessionExpiryMs === null ? 0 : await expireSessions(services, sessionExpiryMs, isStopped);
      if (over > 0) log.info({ count: over }, 'Sessions have expired.');
    } catch (error) {
      log.warn({ err: error }, 'Idle sessions could not be checked.');
    }
  });
}
