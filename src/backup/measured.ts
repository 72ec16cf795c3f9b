import { createHash } from 'node:crypto';
import { type Readable, Transform } from 'node:stream';
import type { StoredFile } from './manifest.ts';

/** A stream that passes its bytes on, and their number and hash so far. */
export interface Measured extends Transform {
  /** Returns the number of bytes and their hash. Call it once, at the end. */
  result(): StoredFile;
}

/** Creates a {@link Measured}. With `maxBytes` it fails with `tooLong` as soon as there are more. */
export function measured(limit?: { readonly maxBytes: number; readonly tooLong: () => Error }): Measured {
  const hash = createHash('sha256');
  let bytes = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.byteLength;
      if (limit !== undefined && bytes > limit.maxBytes) return done(limit.tooLong());
      hash.update(chunk);
      done(null, chunk);
    },
  });
  return Object.assign(stream, { result: () => ({ bytes, sha256: hash.digest('hex') }) });
}

/** Tells if two files have the same size and hash. */
export const isSameFile = (one: StoredFile, other: StoredFile): boolean =>
  one.bytes === other.bytes && one.sha256 === other.sha256;

/** Sends a stream through a {@link Measured}. Each of the two ends with the other. */
export function measure(source: Readable, content: Measured): Measured {
  source.on('error', (error) => content.destroy(error));
  content.on('close', () => source.destroy());
  return source.pipe(content);
}
