import type { Bell } from './bell.ts';
import { createLocalBell } from './local-bell.ts';
import { createPostgresBell } from './postgres-bell.ts';

/** What a bell is made from. */
export interface BellOptions {
  /** Null: the embedded database, which only this process has. */
  readonly databaseUrl: string | null;
  /** Runs one writing statement. */
  readonly execute: (sql: string, values: readonly unknown[]) => Promise<unknown>;
  readonly log: { warn(fields: object, message: string): void };
}

// Its commit waits for no disk: what it tells of is there already, and a ring may be lost.
const notify = `select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)`;

/** The bell for the database at hand: within the process, or over LISTEN and NOTIFY. */
export function createBell(options: BellOptions): Bell {
  const { databaseUrl, log } = options;
  if (databaseUrl === null)
    return createLocalBell((error) => log.warn({ err: error }, 'A listener of the bell failed.'));
  return createPostgresBell({
    databaseUrl,
    notify: (channel, payload) => options.execute(notify, [channel, payload]),
    onError: (error, message) => log.warn({ err: error }, message),
  });
}
