import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import pg from 'pg';

const run = promisify(execFile);

/** Runs statements on a database, each in a separate transaction. */
export async function onDatabase<Row extends object>(url: string, ...statements: string[]): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let rows: Row[] = [];
    for (const statement of statements) rows = (await client.query<Row>(statement)).rows;
    return rows;
  } finally {
    await client.end();
  }
}

/** Returns a dump of a database as SQL. */
export async function dumpDatabase(url: string): Promise<string> {
  return (await run('pg_dump', ['--format=plain', url], { maxBuffer: 1 << 28 })).stdout;
}

/** Dumps a database and restores it into a new one on the server of `adminUrl`. Returns the URL of the copy. */
export async function copyDatabase(sourceUrl: string, adminUrl: string): Promise<string> {
  const name = `copy_${randomBytes(8).toString('hex')}`;
  await onDatabase(adminUrl, `create database ${name}`);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  const dump = await dumpDatabase(sourceUrl);
  const restoring = run('psql', ['--quiet', '--set=ON_ERROR_STOP=1', url.href]);
  restoring.child.stdin?.end(dump);
  await restoring;
  return url.href;
}

/** Makes a cluster consume transaction ids. */
export async function useTransactions(url: string, count: number): Promise<void> {
  await onDatabase(url, `do $$ begin for i in 1..${count} loop perform pg_current_xact_id(); commit; end loop; end $$`);
}
