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

/** Formats a number in few characters, for an axis: 12000 is "12K". */
export const writeAxisNumber = (value: number): string =>
  value < 10_000 ? format.format(value) : compact.format(value);

/** Formats a part of one: 0.25 is "25%". */
export const writePercent = (part: number): string => (part > 0 && part < 0.005 ? '<1%' : percent.format(part));

/** Formats a change by a part of one, with its sign: 0.25 is "+25%", and -0.25 is "−25%" with a minus sign. */
export const writeChange = (part: number): string => change.format(part).replace('-', '−');
