// npx tsx bench/checkpoint-tools.ts [TOOL …]: compares ways to save a workspace, for the decision record about drivers of
// checkpoints. The tools must be installed (Debian: apt-get install restic borgbackup zstd). Takes ten minutes.
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compareFileStates, readFileStates } from '../test/support/file-states.ts';
import { bytesBelow, type CheckpointTool, type Cost, tools } from './support/checkpoint-tools.ts';
import { type BenchWorkspace, changeOneLine, createBenchWorkspace } from './support/checkpoint-workspace.ts';
import { segments, segmentsOfFiles } from './support/segments-tool.ts';

const changes = 20;

const say = (text: string) => void process.stdout.write(`${text}\n`);
const percentile = (values: readonly number[], part: number) =>
  values.toSorted((a, b) => a - b)[Math.ceil(part * values.length) - 1] ?? Number.NaN;
const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`;

interface Sample extends Cost {
  readonly bytes: number;
}

const spread = (samples: readonly Sample[], of: keyof Sample, unit: (value: number) => string) =>
  [0.5, 0.95]
    .map((part) =>
      unit(
        percentile(
          samples.map((each) => each[of]),
          part,
        ),
      ),
    )
    .join(' / ');
const ms = (value: number) => `${value.toFixed(0)} ms`;
const kilobytes = (value: number) => `${(value / 1_000).toFixed(1)} KB`;

async function measure(tool: CheckpointTool, from: BenchWorkspace, directory: string): Promise<void> {
  const store = await mkdtemp(join(directory, `${tool.name}-`));
  const source = join(from.workspace, '..');
  await tool.prepare?.(store);
  const save = async (n: number): Promise<Sample> => {
    const before = await bytesBelow(join(store, 'stored'));
    const cost = await tool.save({ source, store, n });
    return { ...cost, bytes: (await bytesBelow(join(store, 'stored'))) - before };
  };
  await mkdir(join(store, 'stored'), { recursive: true });
  const first = await save(0);
  say(
    `${tool.name}: first save ${seconds(first.wallMs)}, ${seconds(first.cpuMs)} CPU, ${(first.bytes / 1e6).toFixed(1)} MB`,
  );
  const unchanged: Sample[] = [];
  const changed: Sample[] = [];
  let n = 1;
  for (let count = 0; count < 5; count++) unchanged.push(await save(n++));
  for (let count = 0; count < changes; count++) {
    await changeOneLine(from, n);
    changed.push(await save(n++));
  }
  for (const [name, samples] of Object.entries({ unchanged, 'one line': changed }))
    say(
      `${tool.name}: ${name} p50/p95: CPU ${spread(samples, 'cpuMs', ms)}, wall ${spread(samples, 'wallMs', ms)}, stored ${spread(samples, 'bytes', kilobytes)}`,
    );
  const target = join(store, 'restored');
  await mkdir(target);
  const restore = await tool.restore({ store, target, n: n - 1 });
  say(`${tool.name}: restore ${seconds(restore.wallMs)}, ${seconds(restore.cpuMs)} CPU`);
  const differences = compareFileStates(readFileStates(source), readFileStates(target));
  for (const what of new Set(differences.map((each) => each.what))) {
    const paths = differences.filter((each) => each.what === what).map(({ path }) => JSON.stringify(path.slice(-60)));
    say(`${tool.name}: ${paths.length} × ${what}: ${paths.slice(0, 4).join(', ')}`);
  }
}

const directory = await mkdtemp(join(tmpdir(), 'switchyard-checkpoint-tools-'));
const wanted = process.argv.slice(2);
await mkdir(join(directory, 'session'));
const from = await createBenchWorkspace(join(directory, 'session'), say);
say(
  `source: ${readFileStates(join(directory, 'session')).size} entries, ${((await bytesBelow(join(directory, 'session'))) / 1e6).toFixed(0)} MB`,
);
for (const tool of [...tools, segments, segmentsOfFiles])
  if (wanted.length === 0 || wanted.includes(tool.name)) await measure(tool, from, directory);
say(`The files are in ${directory}: delete it.`);
