// npx tsx bench/rolling-replacement.ts: replaces three workers under 40 active sessions, one after the other with SIGTERM, by workers
// with empty data directories. No session may fail, start over or lack a change. Prints how long sessions were without an agent.
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { buildPrograms } from '../test/support/build-programs.ts';
import { checkLogs } from '../test/support/checkpoint-kills/followed-sessions.ts';
import { describeReport } from '../test/support/checkpoint-kills/kill-figures.ts';
import { replaceWorkers } from '../test/support/checkpoint-kills/lose-workers.ts';
import { withMovingSessions } from './support/with-moving-sessions.ts';

const { values } = parseArgs({
  options: {
    sessions: { type: 'string', default: '40' },
    workers: { type: 'string', default: '3' },
    directory: { type: 'string', default: tmpdir() },
    keep: { type: 'boolean', default: false },
  },
});

const say = (text: string) => void process.stdout.write(`${text}\n`);
await buildPrograms();
const agent = { packages: null, steps: [2, 8], pauseMs: [500, 3_000] } as const;
const report = await withMovingSessions(values, agent, async (moving) => {
  const found = await replaceWorkers(moving, {
    workers: Number(values.workers),
    sessions: Array.from({ length: Number(values.sessions) }, () => ({ agent: 'small' })),
    pauseMs: 5_000,
    onReplaced: (each, count) => say(describeReport(each, `${count} workers replaced`)),
  });
  found.problems.push(...(await checkLogs(moving)));
  return found;
});
say(describeReport(report, 'At the end'));
for (const problem of report.problems) say(problem);
if (report.problems.length > 0) process.exitCode = 1;
