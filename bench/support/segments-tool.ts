import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { CheckpointContent, Saver, SegmentSource } from '../../src/checkpoints/driver.ts';
import { restoreCheckpoint } from '../../src/checkpoints/restore/restore-checkpoint.ts';
import { createSaveProcess, type SaveProcess } from '../../src/checkpoints/save/save-process-client.ts';
import type { CheckpointTool, Cost } from './checkpoint-tools.ts';

const key = Buffer.alloc(32, 7);
const limits = { maxFileBytes: 20e9, maxIgnoredBytes: 20e9, maxEntries: 2_000_000 };

/** Returns segments from the files of a directory. */
export function segmentsIn(directory: string): SegmentSource {
  return {
    async read(id, range) {
      const file = await open(join(directory, id)).catch(() => null);
      return file && Readable.from(file.createReadStream({ ...range }));
    },
  };
}

/** The CPU time of a process since its start in ms, exact as long as its threads live. */
export function exactCpuMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map((id) => Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8').split(' ')[0]));
  return times.reduce((sum, ns) => sum + ns, 0) / 1e6;
}

/** Creates the tool of our own driver, in a process of its own that is not measured at its start. */
export function createSegmentsTool(name: string, withIgnored: boolean): CheckpointTool {
  const process = createSaveProcess({ maxHeapMb: 512 });
  let saver: Saver | null = null;
  let content: CheckpointContent | null = null;
  return {
    name,
    async save({ source, store, n }) {
      if (saver === null) {
        const spoolDir = join(store, 'spool');
        const records = join(store, 'records');
        for (const path of [spoolDir, records]) await mkdir(path);
        const directories = { workspace: join(source, 'workspace'), home: join(source, 'home'), records };
        const stored = segmentsIn(join(store, 'stored'));
        saver = process.open({ directories, spoolDir, key, from: null, limits, segments: stored });
      }
      return measure(process, async () => {
        const saved = await saver?.save({ withIgnored, isUrgent: n === 0, signal: new AbortController().signal });
        for (const { id, path } of saved?.segments ?? []) await rename(path, join(store, 'stored', id));
        await saver?.commit();
        content = saved?.content ?? content;
      });
    },
    close: () => process.close(),
    async restore({ store, target }) {
      const records = join(store, 'restored-records');
      const directories = { workspace: join(target, 'workspace'), home: join(target, 'home'), records };
      const spoolDir = join(store, 'restore');
      await mkdir(spoolDir);
      const { signal } = new AbortController();
      const stored = segmentsIn(join(store, 'stored'));
      return measure(process, async () => {
        if (content === null) throw new Error('Nothing is saved.');
        await restoreCheckpoint({ directories, content, key, segments: stored, spoolDir, owner: null, signal });
      });
    },
  };
}

async function measure(saves: SaveProcess, work: () => Promise<void>): Promise<Cost> {
  const cpuMs = () => exactCpuMs(process.pid) + (saves.pid === undefined ? 0 : exactCpuMs(saves.pid));
  const [from, before] = [performance.now(), cpuMs()];
  await work();
  return { wallMs: performance.now() - from, cpuMs: cpuMs() - before };
}

/** Our own driver, with ignored files in each save. */
export const segments = createSegmentsTool('segments', true);
/** Our own driver, as most of its saves are: without ignored files. */
export const segmentsOfFiles = createSegmentsTool('segments-files', false);
