/** Makes a format of numbers in the language of the browser, like that of dates. */
export const numberFormat = (options: Intl.NumberFormatOptions): Intl.NumberFormat =>
  new Intl.NumberFormat(undefined, options);

const format = numberFormat({ maximumFractionDigits: 2 });
const compact = numberFormat({ maximumFractionDigits: 1, notation: 'compact' });
const percent = numberFormat({ maximumFractionDigits: 0, style: 'percent' });
const change = numberFormat({ maximumFractionDigits: 0, style: 'percent', signDisplay: 'exceptZero' });

/** Formats a number with two decimals. A small positive number does not become zero: 0.0002 is "<0.01". */
export function writeNumber(value: number): string {
  return value > 0 && value < 0.005 ? '<0.01' : format.format(value);
}

const fixed = numberFormat({ minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** Returns a function that formats the numbers of one column: all with two decimals, or none if all are whole. */
export const columnFormat = (values: readonly number[]): ((value: number) => string) =>
  values.every(Number.isInteger)
    ? writeNumber
    : (value) => (value > 0 && value < 0.005 ? writeNumber(value) : fixed.format(value));

/** Rounds a number for a file: no source of these numbers is more precise. */
export const roundForFile = (value: number): number => Number(value.toFixed(4));

/** Formats a number in few characters, for an axis: 12000 is "12K". */
export const writeAxisNumber = (value: number): string =>
  value < 10_000 ? format.format(value) : compact.format(value);

/** Formats a part of one: 0.25 is "25%". */
export const writePercent = (part: number): string => (part > 0 && part < 0.005 ? '<1%' : percent.format(part));

/** Formats a change by a part of one, with its sign: 0.25 is "+25%", and -0.25 is "−25%" with a minus sign. */
export const writeChange = (part: number): string => change.format(part).replace('-', '−');
