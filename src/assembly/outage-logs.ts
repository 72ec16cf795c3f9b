import type { Log } from '../domain/context.ts';
import { isOutage } from '../domain/unavailable.ts';
import { StoreUnavailableError, toStoreError } from '../store/unavailable.ts';

type Write = (fields: object, message: string) => void;

/**
 * Wraps a log so that errors caused by an outage of the database get the level debug: the store logs the outage itself, once a second.
 * Otherwise every request and every poller would add a line. Nothing else logs an outage of the file storage, so background work
 * does; requests do not.
 */
export function withoutOutages(log: Log): Log {
  const unlessOutage =
    (write: Write): Write =>
    (fields, message) =>
      isLogged((fields as { err?: unknown }).err) ? write(fields, message) : log.debug(fields, message);
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: (fields, message) => log.info(fields, message),
    warn: unlessOutage((fields, message) => log.warn(fields, message)),
    error: unlessOutage((fields, message) => log.error(fields, message)),
  };
}

const isLogged = (error: unknown) =>
  !isOutage(error) || (error instanceof StoreUnavailableError && error.service === 'files');

/** A log for the notifier, whose errors come from its own connection to the database. */
export function notifierLog(log: Log): { warn: Write } {
  return {
    warn(fields, message) {
      const { err } = fields as { err?: unknown };
      log.warn({ ...fields, err: toStoreError('database', err) }, message);
    },
  };
}
