import { numberFormat } from './number.ts';

const cents = numberFormat({ style: 'currency', currency: 'USD' });
const whole = numberFormat({ style: 'currency', currency: 'USD', maximumFractionDigits: 0 });
const count = numberFormat({ notation: 'compact', maximumFractionDigits: 1 });

const small = numberFormat({ style: 'currency', currency: 'USD', maximumSignificantDigits: 2 });

/** Formats US dollars. A sum below a cent has two significant digits: 0.0042 is "$0.0042". */
export function writeUsd(usd: number): string {
  if (usd > 0 && usd < 0.01) return usd < 0.000_001 ? '<$0.000001' : small.format(usd);
  return usd >= 1_000 || (usd >= 1 && Number.isInteger(usd)) ? whole.format(usd) : cents.format(usd);
}

/** Formats a large number in a few letters: 3.4M. */
export const writeCount = (value: number): string => count.format(value);
