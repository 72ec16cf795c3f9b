import { createHmac, hkdfSync } from 'node:crypto';
import type { CheckpointKey } from './driver.ts';

/** The bytes of a chunk's identity. */
export const chunkIdBytes = 16;

// A checkpoint has at most 128 segments.
const maxKnownKeys = 256;

/** Keys that are derived from an organization's key. Two organizations share none of them. */
export interface CheckpointKeys {
  /**
   * Returns the identity of a chunk's content: one character for each of its 16 bytes. Without the key, nobody can tell whether two
   * organizations have the same content.
   */
  chunkIdOf(content: Uint8Array): string;
  /** Returns the key of AES-256-GCM of one segment, by its id of 32 hex digits. */
  segmentKeyOf(segmentId: string): Buffer;
}

/** Derives the keys for the chunks and segments of one organization. */
export function deriveKeys(key: CheckpointKey): CheckpointKeys {
  if (key.length !== 32) throw new Error('The key of checkpoints must have 32 bytes.');
  const derive = (salt: Uint8Array, info: string) => Buffer.from(hkdfSync('sha256', key, salt, info, 32));
  const segmentKeys = new Map<string, Buffer>();
  const chunkKey = derive(Buffer.alloc(0), 'switchyard checkpoint chunk');
  return {
    chunkIdOf: (content) => createHmac('sha256', chunkKey).update(content).digest().toString('latin1', 0, chunkIdBytes),
    segmentKeyOf(segmentId) {
      const known = segmentKeys.get(segmentId);
      if (known !== undefined) return known;
      if (segmentKeys.size >= maxKnownKeys) segmentKeys.clear();
      const segmentKey = derive(Buffer.from(segmentId, 'hex'), 'switchyard checkpoint segment');
      segmentKeys.set(segmentId, segmentKey);
      return segmentKey;
    },
  };
}
