import type { Broadcaster } from './broadcaster.ts';
import { createLocalBroadcaster } from './local-broadcaster.ts';
import { createPostgresBroadcaster } from './postgres-broadcaster.ts';

/** The options of a broadcaster. */
export interface BroadcasterOptions {
  /** Null: the embedded database, which only this process has. */
  readonly databaseUrl: string | null;
  /** Runs one writing statement. */
  readonly execute: (sql: string, values: readonly unknown[]) => Promise<unknown>;
  /** Returns the key with which the messages of a sender are encrypted. */
  readonly keyOf: (sender: string) => Buffer;
  readonly log: { warn(fields: object, message: string): void };
}

// The commit does not wait for the disk: nothing is written.
const notifySql = `
  select set_config('synchronous_commit', 'off', true), pg_notify($1, payload) from unnest($2::text[]) payload`;

/** Creates the broadcaster for the database: within the process, or over LISTEN and NOTIFY. */
export function createBroadcaster({ databaseUrl, execute, keyOf, log }: BroadcasterOptions): Broadcaster {
  if (databaseUrl === null)
    return createLocalBroadcaster((error) => log.warn({ err: error }, 'A listener of the broadcaster failed.'));
  return createPostgresBroadcaster({
    databaseUrl,
    notify: (channel, payloads) => execute(notifySql, [channel, payloads]),
    keyOf,
    onError: (error, message) => log.warn({ err: error }, message),
  });
}
