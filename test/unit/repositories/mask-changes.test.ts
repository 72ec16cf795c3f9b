import { expect, it } from 'vitest';
import { createMaskChanges, maskChanges } from '../../../src/domain/execution/changes/mask-changes.ts';
import { createSpanFinder } from '../../../src/domain/execution/runs/secret-spans.ts';
import type { FileChange } from '../../../src/git/diff/file-change.ts';

const values = ['canary-secret-1', 'first line of a key\nsecond line of a key'];

function changesOf(lineCount: number) {
  const lines = Array.from({ length: lineCount }, (_, n) =>
    n % 50 === 0 ? `+token=canary-secret-1 ${n}` : `+line ${n}`,
  );
  const hunk = { oldStart: 0, oldLines: 0, newStart: 1, newLines: lineCount, heading: '', lines };
  const file: FileChange = {
    ...{ path: 'a/canary-secret-1.txt', oldPath: null, status: 'ADDED', oldMode: null, mode: '100644' },
    ...{ additions: lineCount, deletions: 0, isBinary: false, size: 1, hunks: [hunk] },
  };
  return { files: [file], patch: Buffer.concat([Buffer.from([0x2b, 0xff, 0x0a]), Buffer.from(lines.join('\n'))]) };
}

it('masks the same in a thread, which leaves the event loop free', async () => {
  const changes = changesOf(5_000);
  const findSpans = createSpanFinder(values);
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  const masked = await createMaskChanges(values, 'session')(changes);
  clearInterval(timer);
  expect(findSpans).not.toBeNull();
  if (findSpans === null) return;
  expect(masked).toEqual(maskChanges(changes, findSpans));
  expect(JSON.stringify(masked?.files) + masked?.patch?.toString()).not.toContain('canary');
  // Without a thread, no timer can fire until it is done.
  expect(turns).toBeGreaterThan(0);
});

it('masks small changes, and returns the same object if there is no secret', async () => {
  const changes = changesOf(2);
  expect(JSON.stringify(await createMaskChanges(values, 'session')(changes))).not.toContain('canary');
  expect(await createMaskChanges([], 'session')(changes)).toBe(changes);
});

it('leaves out changes that take too long, with their names', async () => {
  expect(await createMaskChanges(values, 'session', 1)(changesOf(5_000))).toBeNull();
});
