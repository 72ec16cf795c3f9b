import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from './config/config.ts';
import { emptyDatabase } from './domain/bootstrap.ts';
import { openStore, type Store } from './store/store.ts';

// Another directory would have another database for a command on an embedded one, and none at all to do with the service.
const stopIt = 'Stop it for as long as the command runs: an embedded database is for one process at a time.';
const useAnother =
  'Stop it for as long as the command runs, or give the command an empty DATA_DIR of its own and the SECRET_KEY of the service.';

/**
 * The store of the service, for a command on its host, whose warnings go to stderr. Throws a sentence where there is none
 * yet, and leaves nothing behind there: a command begins no database.
 */
export async function openForCommand({ dataDir, databaseUrl, databaseLimits }: Config): Promise<Store> {
  if (databaseUrl === null && !existsSync(join(dataDir, 'pglite'))) throw new Error(emptyDatabase);
  const say = (_fields: object, message: string) => process.stderr.write(`${message}\n`);
  const whenHeld = databaseUrl === null ? stopIt : useAnother;
  return openStore({ dataDir, databaseUrl, limits: databaseLimits, whenHeld, log: { warn: say, error: say } });
}
