import { expect, it } from 'vitest';
import { describeDownload } from '../../../src/agents/programs/watch-progress.ts';

it.each([
  [0, 'Downloading about 80 MB', 0],
  [31_400_000, 'Downloading: 31 of about 80 MB', 38],
  [79_400_000, 'Downloading: 79 of about 80 MB', 98],
  // More than the estimate: the whole is unknown.
  [80_000_000, 'Downloading: 80 MB', 99],
  [102_000_000, 'Downloading: 102 MB', 99],
])('describes %i bytes of about 80 MB', (bytes, text, percent) => {
  expect(describeDownload(bytes, 80)).toEqual({ text, percent });
});
