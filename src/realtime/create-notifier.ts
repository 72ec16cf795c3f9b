import { createLocalNotifier } from './local-notifier.ts';
import type { Notifier } from './notifier.ts';
import { createPostgresNotifier } from './postgres-notifier.ts';

/** The options of a notifier. */
export interface NotifierOptions {
  /** Null: the embedded database, which only this process has. */
  readonly databaseUrl: string | null;
  /** Runs one writing statement. */
  readonly execute: (sql: string, values: readonly unknown[]) => Promise<unknown>;
  readonly log: { warn(fields: object, message: string): void };
}

// The commit does not wait for the disk: the data of the notification is committed already, and a notification may be
// missed.
const notifySql = `
  select set_config('synchronous_commit', 'off', true), pg_notify(channel, payload)
    from unnest($1::text[], $2::text[]) message (channel, payload)`;

/** Creates the notifier for the database: within the process, or over LISTEN and NOTIFY. */
export function createNotifier(options: NotifierOptions): Notifier {
  const { databaseUrl, log } = options;
  if (databaseUrl === null)
    return createLocalNotifier((error) => log.warn({ err: error }, 'A listener of the notifier failed.'));
  return createPostgresNotifier({
    databaseUrl,
    notify: (messages) =>
      options.execute(notifySql, [messages.map(({ channel }) => channel), messages.map(({ payload }) => payload)]),
    onError: (error, message) => log.warn({ err: error }, message),
  });
}
