// The program of a thread that restores a checkpoint: it decodes the manifests, and writes a share of the files.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { serveTasks } from '../../threads/serve-tasks.ts';
import { type CheckpointKeys, deriveKeys } from '../checkpoint-keys.ts';
import {
  type CheckpointContent,
  CheckpointError,
  type CheckpointRoot,
  type LayerContent,
  type RestoreReport,
} from '../driver.ts';
import type { Entry, Layer, Manifest } from '../manifest.ts';
import { mergeLayers } from '../merge-layers.ts';
import { damaged, headerBytes, openHeader, openRecord, type SegmentHeader } from '../segment-format.ts';
import { decodeManifests, refusedBySystem, type StoredManifest } from '../segment-reader.ts';
import { EntryWriter, type EntryWriterOptions } from './entry-writer.ts';
import { type BlockUnit, planRestore, type RestorePlan } from './restore-plan.ts';
import { SharedProgress, StoppedError } from './shared-progress.ts';

/** The share of one thread in a restore. */
export interface RestoreTask extends EntryWriterOptions {
  /** Of `threads`: the first one creates the directories, and sets their attributes at the end. */
  readonly thread: number;
  readonly threads: number;
  readonly content: CheckpointContent;
  readonly key: Uint8Array;
  /** The directory with the segments, by id. */
  readonly spool: string;
  /** Ids by number. */
  readonly segments: readonly string[];
  readonly progress: SharedArrayBuffer;
}

/** The answer to a {@link RestoreTask}. */
export type RestoreAnswer =
  | { readonly report: RestoreReport; readonly roots: Readonly<Record<CheckpointRoot, Entry | null>> }
  | { readonly isStopped: true }
  | { readonly code: CheckpointError['code']; readonly message: string; readonly systemCode: string | null };

serveTasks((task: RestoreTask): RestoreAnswer => {
  const progress = new SharedProgress(task.progress);
  try {
    return restore(task, progress);
  } catch (error) {
    if (error instanceof StoppedError) return { isStopped: true };
    progress.stop();
    if (error instanceof CheckpointError) return { code: error.code, message: error.message, systemCode: null };
    const { message } = refusedBySystem('The files cannot be written', error);
    return { code: 'FAILED', message, systemCode: (error as NodeJS.ErrnoException).code ?? null };
  }
});

function restore(task: RestoreTask, progress: SharedProgress): RestoreAnswer {
  const spool = new SpooledSegments(task, progress);
  try {
    const { files, ignored } = task.content;
    const filesManifest = spool.readManifest('files', files);
    const ignoredManifest = ignored === null ? null : spool.readManifest('ignored', ignored);
    const steps = mergeLayers(filesManifest, ignoredManifest);
    let step = steps.next();
    while (!step.done) step = steps.next();
    const entries = step.value;
    const plan = planRestore(entries, new Map(task.segments.map((id, number) => [id, number])));
    writeEntries(task, plan, spool, progress);
    const rootOf = (name: CheckpointRoot) => entries.get(name) ?? null;
    const roots = { workspace: rootOf('workspace'), home: rootOf('home'), records: rootOf('records') };
    return { report: { files: plan.files, bytes: plan.bytes }, roots };
  } finally {
    spool.close();
  }
}

function writeEntries(task: RestoreTask, plan: RestorePlan, spool: SpooledSegments, progress: SharedProgress): void {
  const writer = new EntryWriter(task);
  // The directories of the checkpoint exist already.
  const directories = plan.directories.filter(([path]) => path.includes('/'));
  if (task.thread === 0) {
    for (const [path] of directories) writer.createDirectory(path);
    progress.setDirectories();
  } else progress.waitForDirectories();
  try {
    for (let unit = plan.units[progress.takeUnit()]; unit !== undefined; unit = plan.units[progress.takeUnit()]) {
      if (unit.segment !== null) writeBlocks(writer, spool, unit, progress);
      else {
        for (const [path, entry] of unit.entries) {
          if (entry.type === 'link') writer.writeLink(path, entry);
          else writer.writeFile(path, entry, nothing);
        }
      }
    }
  } finally {
    writer.closePart();
  }
  if (task.thread > 0) {
    progress.setOtherThread();
    return;
  }
  if (task.threads > 1) progress.waitForOtherThread();
  for (const [path, entry] of plan.composed) writer.finishFile(path, entry);
  for (const [path, entry] of directories.reverse()) writer.finishDirectory(path, entry);
}

const nothing = Buffer.alloc(0);

function writeBlocks(writer: EntryWriter, spool: SpooledSegments, unit: BlockUnit, progress: SharedProgress): void {
  for (const { block, pieces } of unit.blocks) {
    progress.check();
    const content = spool.readBlock(unit.segment, block.offset, block.length);
    if (content.length !== block.rawLength) {
      throw damaged(block.segment.id, 'a block has another length than its manifest says');
    }
    for (const { path, entry, start, length, position } of pieces) {
      const part = content.subarray(start, start + length);
      if (position === null) writer.writeFile(path, entry, part);
      else writer.writePart(path, position, part);
    }
  }
  if (unit.isLast) progress.setSegmentDone(unit.segment);
}

interface OpenSegment {
  readonly segment: number;
  readonly fd: number;
  readonly header: SegmentHeader;
}

/** The segments in the spool. Reading waits until they are there. */
class SpooledSegments {
  readonly #task: RestoreTask;
  readonly #keys: CheckpointKeys;
  readonly #progress: SharedProgress;
  #open: OpenSegment | null = null;

  constructor(task: RestoreTask, progress: SharedProgress) {
    this.#task = task;
    this.#keys = deriveKeys(Buffer.from(task.key));
    this.#progress = progress;
  }

  readManifest(layer: Layer, content: LayerContent): Manifest {
    const stored = content.manifest.map((segmentId): StoredManifest => {
      const open = this.#openSegment(this.#task.segments.indexOf(segmentId));
      const { manifest } = open.header;
      if (manifest === null) throw damaged(segmentId, 'it has no manifest');
      return { segmentId, offset: manifest.offset, sealed: this.#read(open, manifest.offset, manifest.length) };
    });
    return decodeManifests(stored, layer, this.#keys);
  }

  readBlock(segment: number, offset: number, length: number): Buffer {
    const segmentId = this.#task.segments[segment] as string;
    const sealed = this.#read(this.#openSegment(segment), offset, length);
    return openRecord(this.#keys, { segmentId, kind: 'block', offset }, sealed);
  }

  close(): void {
    if (this.#open !== null) closeSync(this.#open.fd);
    this.#open = null;
  }

  #openSegment(segment: number): OpenSegment {
    if (this.#open?.segment === segment) return this.#open;
    this.close();
    this.#progress.waitForSegment(segment);
    const segmentId = this.#task.segments[segment] as string;
    const fd = openSync(join(this.#task.spool, segmentId), 'r');
    try {
      const start = Buffer.alloc(headerBytes);
      const read = readSync(fd, start, 0, headerBytes, 0);
      const header = openHeader(this.#keys, segmentId, start.subarray(0, read));
      if (fstatSync(fd).size !== header.bytes) throw damaged(segmentId, 'it has another length than its header says');
      this.#open = { segment, fd, header };
      return this.#open;
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  #read({ segment, fd, header }: OpenSegment, offset: number, length: number): Buffer {
    const segmentId = this.#task.segments[segment] as string;
    if (offset + length > header.bytes) throw damaged(segmentId, 'it ends too early');
    const content = Buffer.allocUnsafe(length);
    for (let done = 0; done < length; ) {
      const read = readSync(fd, content, done, length - done, offset + done);
      if (read === 0) throw damaged(segmentId, 'it ends too early');
      done += read;
    }
    return content;
  }
}
