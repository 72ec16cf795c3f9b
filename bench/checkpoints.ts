import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { buildPrograms } from '../test/support/build-programs.ts';
import { checkLogs } from '../test/support/checkpoint-kills/followed-sessions.ts';
import { percentile } from '../test/support/checkpoint-kills/kill-figures.ts';
import { killWorkers } from '../test/support/checkpoint-kills/lose-workers.ts';
import type { Bench } from './support/bench.ts';
import { bytesBelow, type CheckpointTool, type Cost, tools } from './support/checkpoint-tools.ts';
import { changeOneLine, createBenchWorkspace } from './support/checkpoint-workspace.ts';
import type { MeasureName, Row } from './support/measures.ts';
import { type MovableSession, type Move, openMovableSession } from './support/moves.ts';
import { createSegmentsTool } from './support/segments-tool.ts';
import { openJournaledSessions } from './support/with-moving-sessions.ts';

/**
 * Checkpoints of a session in a repository of 100 MB with 20,000 ignored files: the cost of a change of one line, the time until
 * its agent works on another worker, and the work that is lost with a worker. The baselines are tar with zstd and git clone, in
 * the same run.
 */
export async function measureCheckpoints(bench: Bench): Promise<Row[]> {
  return [...(await measureLines(bench)), ...(await measureMoves(bench)), await measureLostWork(bench)];
}

const percentiles = (values: readonly number[], digits: number) =>
  [0.5, 0.95].map((part) => percentile(values, part).toFixed(digits)).join(' / ');

function rowOf(bench: Bench, name: MeasureName, value: number | null, note: string): Row {
  bench.progress(`  ${name}: ${note}`);
  return { name, value, note };
}

interface Saved extends Cost {
  readonly bytes: number;
}

async function measureLines(bench: Bench): Promise<Row[]> {
  const directory = await bench.createFolder();
  const session = join(directory, 'session');
  await mkdir(session);
  const source = await createBenchWorkspace(session, (text) => bench.progress(text));
  const tar = tools.find(({ name }) => name === 'tar-incremental-files') as CheckpointTool;
  const candidates = [createSegmentsTool('segments', false), tar];
  const stores = new Map<CheckpointTool, string>();
  const found = new Map<CheckpointTool, Saved[]>();
  const save = async (tool: CheckpointTool, n: number): Promise<Saved> => {
    const store = stores.get(tool) as string;
    const before = await bytesBelow(join(store, 'stored'));
    const cost = await tool.save({ source: session, store, n });
    return { ...cost, bytes: (await bytesBelow(join(store, 'stored'))) - before };
  };
  for (const tool of candidates) {
    const store = await mkdtemp(join(directory, `${tool.name}-`));
    await mkdir(join(store, 'stored'));
    stores.set(tool, store);
    const first = await save(tool, 0).catch(() => null);
    // The baseline is left out without its programs.
    if (first === null && tool !== tar) throw new Error('The first save has failed.');
    if (first !== null) found.set(tool, []);
  }
  for (let n = 1; n <= (bench.options.isQuick ? 20 : 60); n++) {
    await changeOneLine(source, n);
    for (const [tool, saves] of found) saves.push(await save(tool, n));
  }
  const [ours = [], theirs] = candidates.map((tool) => found.get(tool));
  const describe = (saves: readonly Saved[]) =>
    `CPU ${percentiles(
      saves.map(({ cpuMs }) => cpuMs),
      0,
    )} ms, ${percentiles(
      saves.map(({ wallMs }) => wallMs),
      0,
    )} ms, stored ${percentiles(
      saves.map(({ bytes }) => bytes / 1_000),
      1,
    )} KB`;
  const baseline =
    theirs === undefined ? 'no zstd for the baseline' : `tar --listed-incremental and zstd: ${describe(theirs)}`;
  const note = `${describe(ours)} (p50 / p95 of ${ours.length}); ${baseline}`;
  const bytes = percentile(
    ours.map((each) => each.bytes / 1_000),
    0.95,
  );
  await candidates[0]?.close?.();
  return [
    rowOf(
      bench,
      'checkpoints/line-cpu',
      percentile(
        ours.map(({ cpuMs }) => cpuMs),
        0.5,
      ),
      note,
    ),
    rowOf(bench, 'checkpoints/line-bytes', bytes, note),
  ];
}

async function measureMoves(bench: Bench): Promise<Row[]> {
  const session = await openMovableSession(bench);
  const warm = await moveAgain(bench, session, true);
  const cold = await moveAgain(bench, session, false);
  const forks = await forkAgain(bench, session);
  const seconds = (moves: readonly Move[], part: number) =>
    percentile(
      moves.map(({ backMs }) => backMs),
      part,
    ) / 1_000;
  const note = ({ moves, byHand }: typeof warm) => {
    const claims = percentiles(
      moves.map(({ claimMs }) => claimMs / 1_000),
      1,
    );
    const backs = percentiles(
      moves.map(({ backMs }) => backMs / 1_000),
      2,
    );
    const hand =
      byHand.length === 0
        ? 'no zstd for the baseline'
        : `git clone and tar by hand ${percentiles(
            byHand.map((ms) => ms / 1_000),
            2,
          )} s`;
    return `${backs} s (p50 / p95 of ${moves.length}); ${hand}; kill to claim, with leases of 4 s, ${claims} s`;
  };
  const ratio = warm.byHand.length === 0 ? null : (seconds(warm.moves, 0.5) * 1_000) / percentile(warm.byHand, 0.5);
  return [
    rowOf(bench, 'checkpoints/warm', seconds(warm.moves, 0.95), note(warm)),
    rowOf(bench, 'checkpoints/cold', seconds(cold.moves, 0.95), note(cold)),
    rowOf(bench, 'checkpoints/warm-ratio', ratio, note(warm)),
    ...forks,
  ];
}

async function moveAgain(bench: Bench, session: MovableSession, isWarm: boolean) {
  const moves: Move[] = [];
  const byHand: number[] = [];
  for (let n = 0; n < (bench.options.isQuick ? 5 : 20); n++) {
    moves.push(await session.move(isWarm));
    const ms = await session.byHand(isWarm);
    if (ms !== null) byHand.push(ms);
  }
  return { moves, byHand };
}

async function forkAgain(bench: Bench, session: MovableSession): Promise<Row[]> {
  const responses: number[] = [];
  const prompts: number[] = [];
  for (let n = 0; n < (bench.options.isQuick ? 5 : 20); n++) {
    const { responseMs, promptMs } = await session.fork();
    responses.push(responseMs / 1_000);
    prompts.push(promptMs / 1_000);
  }
  const describe = (values: readonly number[]) => `${percentiles(values, 2)} s (p50 / p95 of ${values.length})`;
  return [
    rowOf(bench, 'checkpoints/fork', percentile(responses, 0.95), describe(responses)),
    rowOf(bench, 'checkpoints/fork-prompt', percentile(prompts, 0.95), describe(prompts)),
  ];
}

async function measureLostWork(bench: Bench): Promise<Row> {
  await buildPrograms();
  const moving = await openJournaledSessions(bench, await bench.createFolder(), { packages: null });
  const report = await killWorkers(moving, {
    kills: bench.options.isQuick ? 5 : 20,
    sessions: Array.from({ length: 4 }, () => ({ agent: 'small' })),
    delayMs: 6_000,
    random: Math.random,
  });
  report.problems.push(...(await checkLogs(moving)));
  if (report.problems.length > 0) throw new Error(report.problems.join('\n'));
  const ages = report.outcomes.map(({ files }) => files.ageMs / 1_000);
  const ignored = report.outcomes.map(({ ignored: loss }) => loss.ageMs / 1_000);
  const note = `${percentiles(ages, 2)} s, maximum ${Math.max(...ages).toFixed(2)} s, in ${ages.length} sessions whose worker was killed; files that git ignores ${percentiles(ignored, 1)} s`;
  return rowOf(bench, 'checkpoints/lost-work', percentile(ages, 0.95), note);
}
