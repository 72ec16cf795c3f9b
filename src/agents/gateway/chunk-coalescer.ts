import { Transform } from 'node:stream';
import type { Pace } from '../acp/pace.ts';

/** Bytes at which joined chunks are passed on before the tick ends. */
const maxChunkBytes = 16_384;
/** The time that a chunk costs in the gateway, however small it is. */
const chunkMs = 0.01;

/**
 * Creates a stream that joins the chunks of one tick of the event loop, up to 16 KiB: otherwise each chunk of one byte
 * would cost a write. Each chunk counts for the gateway's pace, with the milliseconds that `workMs` returns. The stream
 * accepts no more while the pace is exceeded.
 */
export function createChunkCoalescer(pace: Pace, workMs: () => number = () => 0): Transform {
  let buffered: Buffer[] = [];
  let bytes = 0;
  let tick: NodeJS.Immediate | null = null;
  const release = () => {
    if (tick !== null) clearImmediate(tick);
    tick = null;
    if (buffered.length > 0 && !coalescer.destroyed) coalescer.push(Buffer.concat(buffered));
    buffered = [];
    bytes = 0;
  };
  const coalescer = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      buffered.push(chunk);
      bytes += chunk.length;
      if (bytes >= maxChunkBytes) release();
      else tick ??= setImmediate(release);
      const rest = pace.spend(chunkMs + workMs());
      if (rest === null) done();
      else void rest.then(() => done());
    },
    flush(done) {
      release();
      done();
    },
  });
  return coalescer;
}
