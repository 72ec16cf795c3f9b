const format = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });

/** A figure for people, to two places. What is not nothing is not shown as nothing: 0.0002 is "<0.01". */
export function writeNumber(value: number): string {
  return value > 0 && value < 0.005 ? '<0.01' : format.format(value);
}
