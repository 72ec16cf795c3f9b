// npx tsx bench/checkpoint-kills.ts --kills 300: kills workers at random moments of sessions, takes their data directories away,
// and compares what other workers continue with to the journals of the agents. Prints the figures after each kill.
import { appendFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPrograms } from '../test/support/build-programs.ts';
import { describeReport } from '../test/support/checkpoint-kills/kill-figures.ts';
import { checkLogs, killWorkers } from '../test/support/checkpoint-kills/kill-workers.ts';
import { journalsOf, openMovingSessions } from '../test/support/checkpoint-kills/moving-sessions.ts';
import { builtProgram } from '../test/support/programs.ts';
import { createBench, openCluster } from './support/bench.ts';
import { readOptions } from './support/options.ts';
import { ensurePackages } from './support/packages.ts';
import { start } from './support/processes.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '50' },
    sessions: { type: 'string', default: '3' },
    /** Sessions in which npm installs 20,000 files, too. */
    installs: { type: 'string', default: '1' },
    /** The longest wait before a kill. */
    seconds: { type: 'string', default: '8' },
    directory: { type: 'string', default: tmpdir() },
    json: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});

const say = (text: string) => void process.stdout.write(`${text}\n`);
process.setMaxListeners(1_000);
await buildPrograms();
const packages = Number(values.installs) > 0 ? await ensurePackages(say) : null;
const cluster = await openCluster();
const options = readOptions([]);
if (options === null) throw new Error('There are no options.');
const { bench, end } = createBench(cluster.url, options);
const root = await mkdtemp(join(values.directory, 'switchyard-kills-'));
try {
  const agentOf = (id: string, more: object) => {
    const settings = { journals: journalsOf(root), packages: null, steps: [4, 20], pauseMs: [20, 800], ...more };
    const command = [process.execPath, builtProgram('journal-agent'), JSON.stringify(settings)];
    return { id, command, mcp: false, 'memory_mb': 50, sandbox: { driver: 'none' } };
  };
  const config = join(root, 'agents.json');
  await mkdir(root, { recursive: true });
  const agents = [agentOf('small', {}), agentOf('installing', { packages })];
  await writeFile(config, JSON.stringify({ agents, default: 'small' }));
  const { url } = await bench.createDatabase();
  const moving = await openMovingSessions({
    root,
    databaseUrl: url,
    env: {
      AGENTS_CONFIG: config,
      MAX_CONCURRENT_SESSIONS: '50',
      LEASE_SECONDS: '4',
      WORKSPACE_AFFINITY_SECONDS: '0',
    },
    async launch(env) {
      const main = join(options.dist ?? 'dist', 'main.js');
      const running = start(process.execPath, [main], { env: { PATH: process.env.PATH ?? '', ...env } });
      bench.defer(running.stop);
      const [, address = ''] = await running.waitForOutput(/Switchyard is at (http:\S+?)\.\s/);
      return { ...running, url: address };
    },
  });
  bench.defer(moving.close);
  const count = Number(values.sessions);
  const report = await killWorkers(moving, {
    kills: Number(values.kills),
    sessions: Array.from({ length: count }, (_, n) => ({
      agent: n < Number(values.installs) ? 'installing' : 'small',
    })),
    delayMs: Number(values.seconds) * 1_000,
    random: Math.random,
    onKill: (each) => say(describeReport(each)),
  });
  report.problems.push(...(await checkLogs(moving)));
  say(describeReport(report));
  for (const problem of report.problems) say(problem);
  if (values.json !== undefined)
    appendFileSync(values.json, `${JSON.stringify({ ...report, notes: Object.fromEntries(report.notes) })}\n`);
} catch (error) {
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exitCode = 1;
} finally {
  await end();
  await cluster.stop();
  if (!values.keep) await rm(root, { recursive: true, force: true });
}
