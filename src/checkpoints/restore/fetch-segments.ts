import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { CheckpointError, type SegmentSource } from '../driver.ts';
import { damaged } from '../segment-format.ts';
import { openSegment, refusedBySystem, stopped, unreadable } from '../segment-reader.ts';
import type { SharedProgress } from './shared-progress.ts';

const parallelFetches = 8;

/** Segments that may be in the spool and not yet used, in addition to those with manifests. */
const maxWaiting = 16;

/** A segment has about 16 MB, and a manifest. */
const maxSegmentFileBytes = 2 ** 30;

/** Time between two looks at the progress of the threads while the spool is full. */
const lookMs = 10;

/** Options of {@link fetchSegments}. */
export interface FetchSegmentsOptions {
  /** In the order in which they are needed; the first `manifests` ones have manifests. */
  readonly segments: readonly string[];
  readonly manifests: number;
  readonly source: SegmentSource;
  readonly spool: string;
  readonly progress: SharedProgress;
  readonly signal: AbortSignal;
}

/**
 * Copies segments from the storage to the spool, several at once, and deletes those that were used. So the spool stays small. Rejects with
 * CheckpointError.
 */
export async function fetchSegments(options: FetchSegmentsOptions): Promise<void> {
  const { segments, manifests, spool, progress, signal } = options;
  const waiting = new Set<number>();
  const free = async () => {
    for (const segment of waiting) {
      if (!progress.isSegmentDone(segment)) continue;
      waiting.delete(segment);
      await rm(join(spool, segments[segment] as string), { force: true });
    }
  };
  let next = 0;
  const fetchNext = async () => {
    for (let segment = next++; segment < segments.length; segment = next++) {
      for (await free(); waiting.size >= maxWaiting; await free()) await wait(lookMs, undefined, { signal });
      if (segment >= manifests) waiting.add(segment);
      await fetchSegment(segments[segment] as string, options);
      progress.setSegment(segment);
    }
  };
  try {
    await Promise.all(Array.from({ length: parallelFetches }, fetchNext));
  } catch (error) {
    throw signal.aborted ? stopped() : error;
  }
}

async function fetchSegment(id: string, { source, spool, signal }: FetchSegmentsOptions): Promise<void> {
  if (signal.aborted) throw stopped();
  const stream = await openSegment(source, id);
  const end = () => stream.destroy();
  signal.addEventListener('abort', end, { once: true });
  try {
    const file = await open(join(spool, id), 'wx', 0o600);
    try {
      let bytes = 0;
      for await (const part of readParts(stream as AsyncIterable<Buffer>, id)) {
        bytes += part.length;
        if (bytes > maxSegmentFileBytes) throw damaged(id, 'it is too large');
        await file.writeFile(part);
      }
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof CheckpointError) throw error;
    throw refusedBySystem('A segment cannot be written', error);
  } finally {
    signal.removeEventListener('abort', end);
    stream.destroy();
  }
}

/** Bytes that are written by one call. */
const partBytes = 2 ** 20;

async function* readParts(stream: AsyncIterable<Buffer>, id: string): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of stream) {
      parts.push(part);
      bytes += part.length;
      if (bytes < partBytes) continue;
      yield Buffer.concat(parts);
      [parts, bytes] = [[], 0];
    }
  } catch (error) {
    throw unreadable(id, error);
  }
  if (bytes > 0) yield Buffer.concat(parts);
}
