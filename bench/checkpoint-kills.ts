// npx tsx bench/checkpoint-kills.ts --kills 300: kills workers at random moments of sessions, takes their data directories away,
// and compares what other workers continue with to the journals of the agents. Prints the figures after each kill.
import { appendFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { buildPrograms } from '../test/support/build-programs.ts';
import { checkLogs } from '../test/support/checkpoint-kills/followed-sessions.ts';
import { describeReport } from '../test/support/checkpoint-kills/kill-figures.ts';
import { killWorkers } from '../test/support/checkpoint-kills/lose-workers.ts';
import { ensurePackages } from './support/packages.ts';
import { withMovingSessions } from './support/with-moving-sessions.ts';

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
await buildPrograms();
const packages = Number(values.installs) > 0 ? await ensurePackages(say) : null;
let shown = 0;
const report = await withMovingSessions(values, { packages }, async (moving) => {
  const count = Number(values.sessions);
  const found = await killWorkers(moving, {
    kills: Number(values.kills),
    sessions: Array.from({ length: count }, (_, n) => ({
      agent: n < Number(values.installs) ? 'installing' : 'small',
    })),
    delayMs: Number(values.seconds) * 1_000,
    random: Math.random,
    onKill(each, kills) {
      say(describeReport(each, `${kills} kills`));
      for (const problem of each.problems.slice(shown)) say(`  ${problem}`);
      shown = each.problems.length;
    },
  });
  found.problems.push(...(await checkLogs(moving)));
  return found;
});
say(describeReport(report, 'At the end'));
for (const problem of report.problems.slice(shown)) say(`  ${problem}`);
if (values.json !== undefined)
  appendFileSync(values.json, `${JSON.stringify({ ...report, notes: Object.fromEntries(report.notes) })}\n`);
if (report.problems.length > 0) process.exitCode = 1;
