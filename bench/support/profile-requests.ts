import type { Bench, Database, Server } from './bench.ts';
import type { LoadRequest, LoadResult } from './load.ts';
import { topFunctions } from './profile.ts';

/** Sends requests to a separate server for eight seconds, and prints the functions that used its CPU. */
export async function profileRequests(
  bench: Bench,
  database: Database,
  createLoad: (server: Server) => Pick<LoadRequest, 'url' | 'requests' | 'isVarying'>,
): Promise<void> {
  const folder = await bench.createFolder();
  const execArgv = ['--cpu-prof', '--cpu-prof-dir', folder];
  const profiled = await bench.startServer(database, { execArgv, env: { ROLES: 'api' } });
  const load = bench.startScript('load');
  const { count } = await load.ask<LoadResult>({ ...createLoad(profiled), connections: 16, ms: 8_000 });
  await profiled.stop();
  bench.progress(`The functions that take the most CPU by themselves, over ${count} requests, the start included:`);
  for (const line of await topFunctions(folder)) bench.progress(`  ${line}`);
}
