import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { emptyDatabase } from '../domain/installation/bootstrap.ts';
import { openStore, type Store } from '../store/store.ts';

// With another directory, a command on an embedded database would use another database, unrelated to the service.
const stopIt = 'Stop it while the command runs: only one process at a time can use the embedded database.';
const useAnother =
  'Stop it while the command runs, or give the command an empty DATA_DIR of its own and the SECRET_KEY of the service.';

const writeLine = (_fields: object, message: string) => process.stderr.write(`${message}\n`);

/** Writes the warnings and errors of a command to stderr. */
export const commandLog = { debug: () => undefined, info: () => undefined, warn: writeLine, error: writeLine };

/**
 * Opens the service's store for a command on its host, with warnings on stderr. If there is no database yet, throws a
 * message and creates nothing: a command never creates a database.
 */
export async function openForCommand({ dataDir, databaseUrl, databaseLimits }: Config): Promise<Store> {
  if (databaseUrl === null && !existsSync(join(dataDir, 'pglite'))) throw new Error(emptyDatabase);
  const lockedMessage = databaseUrl === null ? stopIt : useAnother;
  return openStore({ dataDir, databaseUrl, limits: databaseLimits, lockedMessage, log: commandLog });
}

/**
 * {@link openForCommand} for a command that needs the database but not the data directory: on PostgreSQL it runs beside the
 * service.
 */
export async function openDatabaseForCommand(config: Config): Promise<Store> {
  if (config.databaseUrl === null) return openForCommand(config);
  const dataDir = await mkdtemp(join(tmpdir(), 'switchyard-command-'));
  const remove = () => rm(dataDir, { recursive: true, force: true });
  try {
    const store = await openStore({
      dataDir,
      databaseUrl: config.databaseUrl,
      limits: config.databaseLimits,
      log: commandLog,
    });
    return {
      ...store,
      get prisma() {
        return store.prisma;
      },
      close: () => store.close().finally(remove),
    };
  } catch (error) {
    await remove();
    throw error;
  }
}
