// npx tsx bench/checkpoint-saves.ts: measures our own driver of checkpoints: the CPU time of its process and of this one, the stored
// bytes, and its memory. docs/decisions/ has the figures.
import { createReadStream, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { CheckpointContent, SavedState } from '../src/checkpoints/driver.ts';
import { createSaveProcess } from '../src/checkpoints/save/save-process-client.ts';
import { changeOneLine, createBenchWorkspace } from './support/checkpoint-workspace.ts';

const changes = 50;

const say = (text: string) => void process.stdout.write(`${text}\n`);
const directory = mkdtempSync(join(tmpdir(), 'switchyard-checkpoint-saves-'));
process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
const [store, spoolDir, session, records] = ['store', 'spool', 'session', 'records'].map((name) => {
  mkdirSync(join(directory, name));
  return join(directory, name);
}) as [string, string, string, string];

const workspace = await createBenchWorkspace(session, say);
const saves = createSaveProcess({ maxHeapMb: 1_024 });
const open = (from: CheckpointContent | null) =>
  saves.open({
    directories: { workspace: workspace.workspace, home: workspace.home, records },
    spoolDir,
    key: Buffer.alloc(32, 1),
    from,
    segments: { read: async (id, range) => createReadStream(join(store, id), { ...range }) },
    limits: { maxFileBytes: 2 ** 32, maxIgnoredBytes: 2 ** 32, maxEntries: 1_000_000 },
  });
let saver = open(null);
let last = null as SavedState | null;

/** CPU time of all threads of the process that saves. */
function cpuOfProcess(): number {
  if (saves.pid === undefined) return 0;
  const tasks = `/proc/${saves.pid}/task`;
  const times = readdirSync(tasks).map((task) =>
    Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]),
  );
  return times.reduce((sum, time) => sum + time, 0) / 1e6;
}

interface Sample {
  readonly cpu: number;
  readonly ownCpu: number;
  readonly wall: number;
  readonly bytes: number;
}

async function save(withIgnored: boolean): Promise<Sample> {
  const [before, own, start] = [cpuOfProcess(), process.cpuUsage(), performance.now()];
  const saved = await saver.save({ withIgnored, signal: new AbortController().signal });
  for (const { id, path } of saved?.segments ?? []) renameSync(path, join(store, id));
  if (saved !== null) await saver.commit();
  last = saved ?? last;
  const { user, system } = process.cpuUsage(own);
  const ownCpu = (user + system) / 1e3;
  const bytes = (saved?.segments ?? []).reduce((sum, segment) => sum + segment.bytes, 0);
  return { cpu: cpuOfProcess() - before + ownCpu, ownCpu, wall: performance.now() - start, bytes };
}

const at = (samples: readonly Sample[], of: keyof Sample, part: number) =>
  samples.map((sample) => sample[of]).toSorted((a, b) => a - b)[Math.ceil(part * samples.length) - 1] ?? Number.NaN;
const show = (name: string, samples: readonly Sample[]) => {
  const spread = (of: keyof Sample, unit: number) =>
    [0.5, 0.95, 1].map((part) => (at(samples, of, part) / unit).toFixed(1)).join(' / ');
  say(
    `${name} (p50 / p95 / most): CPU ${spread('cpu', 1)} ms, of it in the worker ${spread('ownCpu', 1)} ms, wall ${spread('wall', 1)} ms, stored ${spread('bytes', 1_000)} KB`,
  );
};
const memory = () => /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${saves.pid}/status`, 'utf8'))?.[1];

show('first save of the layer "files", with the start of the process', [await save(false)]);
show('first save of the layer "ignored"', [await save(true)]);
say(`${last?.files} files, ${((last?.bytes ?? 0) / 1e6).toFixed(0)} MB`);
const samples: Record<'unchanged' | 'line' | 'both', Sample[]> = { unchanged: [], line: [], both: [] };
for (let n = 0; n < 10; n++) samples.unchanged.push(await save(false));
for (let n = 0; n < changes; n++) {
  await changeOneLine(workspace, n);
  // Longer than the resolution of the clock, as between two tool calls.
  await delay(50);
  samples.line.push(await save(false));
}
for (let n = 0; n < 5; n++) samples.both.push(await save(true));
show('nothing changed', samples.unchanged);
show('one line changed', samples.line);
show('nothing changed, both layers', samples.both);
say(`largest memory of the process: ${(Number(memory()) / 1_000).toFixed(0)} MB`);
await saver.close();
saver = open(last?.content ?? null);
show('first save after a restart, which reads all files again', [await save(false)]);
await saves.close();
