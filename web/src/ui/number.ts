const format = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });

/** Formats a number with two decimals. A small positive number does not become zero: 0.0002 is "<0.01". */
export function writeNumber(value: number): string {
  return value > 0 && value < 0.005 ? '<0.01' : format.format(value);
}
