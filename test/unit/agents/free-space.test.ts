import { expect, it } from 'vitest';
import { describeFullness } from '../../../src/agents/programs/free-space.ts';

const space = { bsize: 4_096, bavail: 100_000, files: 1_000_000, ffree: 500_000 };

it.each([
  [{}, null],
  [{ bavail: 0 }, /not enough disk space/],
  [{ ffree: 900 }, /too few free inodes/],
  // Btrfs has no fixed number of inodes.
  [{ files: 0, ffree: 0 }, null],
])('blames a failure on a full file system: %j', (change, expected) => {
  const found = describeFullness({ ...space, ...change });
  if (expected === null) expect(found).toBeNull();
  else expect(found).toMatchObject({ code: 'NO_SPACE', message: expect.stringMatching(expected) });
});
