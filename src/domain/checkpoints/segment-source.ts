import type { SegmentSource } from '../../checkpoints/driver.ts';
import type { Services } from '../context.ts';

/**
 * Creates a source of segments in the file storage. It reads any segment by its id: only the organization's key makes sense of
 * its content, and the ids come from the row of a checkpoint.
 */
export function segmentSource({ segments }: Pick<Services, 'segments'>): SegmentSource {
  return { read: (id, range) => segments.read(id, range) };
}
