import { Transform } from 'node:stream';

const asterisk = 42;

/**
 * Creates a stream that replaces each occurrence of a key with asterisks of the same length, even if chunks split it.
 * It holds back only bytes that may be the start of the key.
 */
export function createKeyFilter(key: string): Transform {
  const wanted = Buffer.from(key);
  let pending: Buffer = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const data = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      const clean = maskKey(data, wanted);
      const from = clean.length - partialKeyLength(clean, wanted);
      pending = clean.subarray(from);
      done(null, clean.subarray(0, from));
    },
    flush(done) {
      done(null, pending);
    },
  });
}

function maskKey(data: Buffer, wanted: Buffer): Buffer {
  if (wanted.length === 0 || !data.includes(wanted)) return data;
  const copy = Buffer.from(data);
  for (let at = copy.indexOf(wanted); at >= 0; at = copy.indexOf(wanted, at))
    copy.fill(asterisk, at, at + wanted.length);
  return copy;
}

// The length of the longest suffix of the data that is a prefix of the key.
function partialKeyLength(data: Buffer, wanted: Buffer): number {
  for (let length = Math.min(wanted.length - 1, data.length); length > 0; length--) {
    if (wanted.compare(data, data.length - length, data.length, 0, length) === 0) return length;
  }
  return 0;
}
