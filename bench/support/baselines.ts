import { type Bench, baseUrl, type Database } from './bench.ts';
import { type Running, start } from './processes.ts';

/** A baseline that listens. */
export interface Baseline extends Running {
  readonly url: string;
}

/** Starts `bench/support/bare.ts` on a database. */
export function startBare(bench: Bench, database: Database): Promise<Baseline> {
  return startBaseline(bench, 'bare', [database.url, baseUrl]);
}

/** Starts a script of `bench/support` that prints its listen address. */
export async function startBaseline(bench: Bench, name: string, args: readonly string[]): Promise<Baseline> {
  const path = new URL(`./${name}.ts`, import.meta.url).pathname;
  const running = start(process.execPath, ['--import', 'tsx', path, ...args], { env: process.env });
  bench.defer(running.stop);
  const [, port] = await running.waitForOutput(/listening on (\d+)/);
  return { ...running, url: `http://127.0.0.1:${port}` };
}
