const cents = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' });
const whole = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD', maximumFractionDigits: 0 });
const count = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** Formats US dollars. A small positive sum does not become zero: 0.002 is "<$0.01". */
export function writeUsd(usd: number): string {
  if (usd > 0 && usd < 0.005) return '<$0.01';
  return usd >= 1_000 || (usd >= 1 && Number.isInteger(usd)) ? whole.format(usd) : cents.format(usd);
}

/** Formats a large number in a few letters: 3.4M. */
export const writeCount = (value: number): string => count.format(value);
