import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { waitForServer } from '../../src/store/postgres-server.ts';
import { openStore } from '../../src/store/store.ts';
import { createDatabase, testDatabase } from '../support/test-store.ts';

const log = { warn: () => undefined, error: () => undefined };

let dataDir: string;
let databaseUrl: string | null;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'switchyard-open-'));
  databaseUrl = testDatabase === 'postgres' ? await createDatabase() : null;
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const insert = `insert into enterprise (id, name, created_at) values ($1, 'Acme', now())`;
const ids = `select id from enterprise order by id`;

it('opens, migrates, keeps written data, and releases the directory', async () => {
  for (const id of ['first', 'second']) {
    const store = await openStore({ dataDir, databaseUrl, log });
    await store.ping();
    await store.execute(insert, [id]);
    await store.close();
    await store.close();
  }
  const store = await openStore({ dataDir, databaseUrl, log });
  expect(await store.query(ids)).toEqual([{ id: 'first' }, { id: 'second' }]);
  expect(store.dialect).toBe(testDatabase);
  await store.close();
  await expect(store.ping()).rejects.toThrow();
});

it('refuses a second opener of the directory with one sentence, without an effect on the first', async () => {
  const store = await openStore({ dataDir, databaseUrl, log });
  await expect(openStore({ dataDir, databaseUrl, log })).rejects.toThrow(
    `The data directory ${dataDir} is in use by another Switchyard process (pid ${process.pid}`,
  );
  await store.ping();
  await store.close();
});

it('loses no acknowledged write, and opens at once, after kill -9', async () => {
  const module = new URL('../../src/store/store.ts', import.meta.url).href;
  const options = JSON.stringify({ dataDir, databaseUrl });
  const script = `import(${JSON.stringify(module)}).then(async ({ openStore }) => {
    const log = { warn() {}, error() {} };
    const store = await openStore({ ...${options}, log });
    for (let n = 1; ; n++) {
      const id = String(n).padStart(6, '0');
      if (n % 2) await store.execute(${JSON.stringify(insert)}, [id]);
      else await store.transact((tx) => tx.query(${JSON.stringify(insert)}, [id]));
      process.stdout.write(id + '\\n');
    }
  });`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  for await (const data of child.stdout) {
    output += String(data);
    if (output.length > 7 * 200) break;
  }
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  const acknowledged = output.split('\n').filter((line) => line.length === 6);
  expect(acknowledged.length).toBeGreaterThan(150);
  const store = await openStore({ dataDir, databaseUrl, log });
  const stored = new Set((await store.query<{ id: string }>(ids)).map(({ id }) => id));
  expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
  await store.close();
});

const onPostgres = it.skipIf(testDatabase !== 'postgres');

/** The complete text of an error, including its causes and fields. */
async function failureOf(refused: Promise<unknown>): Promise<{ message: string; all: string }> {
  const error = (await refused.then(
    () => null,
    (reason: unknown) => reason,
  )) as Error;
  return { message: error.message, all: [error.stack, error.cause].map((each) => inspect(each)).join() };
}

onPostgres(
  'says in one sentence, without the password, why a server cannot be used, and gives the directory back',
  async () => {
    const url = new URL(databaseUrl ?? '');
    url.password = 'hunter2';
    url.pathname = '/no_such_database';
    url.search = '';
    const { message, all } = await failureOf(openStore({ dataDir, databaseUrl: url.href, log }));
    expect(message).toBe(
      `PostgreSQL at 127.0.0.1:${url.port}, database "no_such_database" cannot be used: database "no_such_database" does not exist.`,
    );
    expect(all).not.toContain('hunter2');
    await expect(openStore({ dataDir, databaseUrl: 'hunter2', log })).rejects.toThrow(
      /^DATABASE_URL is not an address/,
    );
    await (await openStore({ dataDir, databaseUrl, log })).close();
  },
);

onPostgres('names host and port of a server that is not there', async () => {
  // Nothing answers on port 1 (tcpmux).
  const databaseUrl = 'postgresql://somebody:hunter2@127.0.0.1:1/switchyard';
  const messages: string[] = [];
  const waitOptions = { ms: 300, onWait: (sentence: string) => messages.push(sentence) };
  const { message, all } = await failureOf(waitForServer(databaseUrl, waitOptions));
  expect(messages).toEqual([
    'PostgreSQL at 127.0.0.1:1, database "switchyard" does not answer yet (ECONNREFUSED): waiting 0.3 seconds for it.',
  ]);
  expect(message).toMatch(/^PostgreSQL at 127\.0\.0\.1:1, database "switchyard" cannot be used: .*ECONNREFUSED/);
  expect(all).not.toContain('hunter2');
});
