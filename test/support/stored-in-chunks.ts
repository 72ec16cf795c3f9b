import { createMask } from '../../src/domain/execution/runs/masking.ts';
import { createSafeLength } from '../../src/domain/execution/runs/safe-length.ts';

/**
 * Returns the masked text that the service stores for a text that arrives in chunks of these sizes, repeated, with a pause of the
 * agent after each chunk.
 */
export function storedInChunks(secret: string, text: string, sizes: readonly number[]): string {
  const [mask, safeLength] = [createMask([secret]), createSafeLength([secret])];
  let [stored, open, at] = ['', '', 0];
  for (let n = 0; at < text.length; n++) {
    const size = sizes[n % sizes.length] as number;
    open += text.slice(at, at + size);
    at += size;
    const safe = at < text.length ? safeLength(open) : open.length;
    stored += mask(open.slice(0, safe), true);
    open = open.slice(safe);
  }
  return stored;
}
