import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ChunkBuffer } from '../../../src/agents/reporting/chunk-buffer.ts';

it('stores single bytes in as few blocks as large chunks', () => {
  const buffer = new ChunkBuffer();
  for (let n = 0; n < 640 * 1_024; n++) buffer.add(Buffer.from([n % 251]));
  expect(buffer.blocks).toBe(40);
  expect(buffer.join().every((byte, n) => byte === n % 251)).toBe(true);
});

it('returns the added bytes for chunks of any size', () => {
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 5 }),
    fc.integer({ min: 16_380, max: 16_390 }).map((length) => new Uint8Array(length).fill(length % 251)),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const buffer = new ChunkBuffer();
      for (const each of pieces) buffer.add(Buffer.from(each));
      expect(buffer.join().equals(Buffer.concat(pieces))).toBe(true);
    }),
  );
});
