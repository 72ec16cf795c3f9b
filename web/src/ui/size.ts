import { writeNumber } from './number.ts';

const units = ['KiB', 'MiB', 'GiB', 'TiB'] as const;

/**
 * Formats a number of bytes in powers of 1,024, as the limits of the service are: "3 B", "12 KiB", "1.5 MiB". All sizes of the
 * console use it. Two decimals above a KiB, rounded up, so that a size above a limit does not look like the limit.
 */
export function writeSize(bytes: number): string {
  if (bytes < 1_024) return `${writeNumber(bytes)} B`;
  const step = Math.min(units.length, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1_024 ** step;
  const rounded = step === 1 ? Math.round(value) : Math.ceil(value * 100) / 100;
  return `${writeNumber(rounded)} ${units[step - 1]}`;
}
