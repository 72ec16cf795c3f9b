import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { demoAgentOnly } from './profiles.ts';
import { freePort } from './server.ts';
import { createDatabase, testDatabase } from './test-store.ts';

/** The SECRET_KEY of {@link makeServerEnv} on PostgreSQL. The embedded database has its own in DATA_DIR. */
export const serverSecretKey = 'the same secret key at every start';

/** Creates a directory that is deleted after the test. */
export function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'switchyard-restart-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Returns the variables of a server process with its own database, on the database system of the test run. */
export async function makeServerEnv(): Promise<Record<string, string>> {
  const database =
    testDatabase === 'postgres' ? { DATABASE_URL: await createDatabase(), SECRET_KEY: serverSecretKey } : {};
  return {
    DATA_DIR: makeDirectory(),
    PORT: String(await freePort()),
    LOG_LEVEL: 'warn',
    AGENTS_CONFIG: demoAgentOnly,
    ...database,
  };
}
