import { expect, it } from 'vitest';
import { writeSize } from '../../../web/src/ui/size.ts';

it.each([
  [0, '0 B'],
  [1_023, '1,023 B'],
  [1_024, '1 KiB'],
  [83_000, '81 KiB'],
  [1_048_575, '1,024 KiB'],
  [1_048_576, '1 MiB'],
  [1_048_577, '1.01 MiB'],
  [5_000_000_000, '4.66 GiB'],
  [3 * 1_024 ** 5, '3,072 TiB'],
])('writes %i bytes as %s', (bytes, text) => {
  expect(writeSize(bytes)).toBe(text);
});
