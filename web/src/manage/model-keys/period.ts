import { period as texts } from '../../texts/model-keys.ts';
import { dayOf } from '../../usage/days.ts';

/** The periods for which usage can be shown. */
export const periods = texts.periods;

/** A name of a period. */
export type Period = keyof typeof periods;

/** The first and last day (UTC) of a period. */
export function daysOf(period: Period): { readonly from: string; readonly to: string } {
  const now = new Date();
  const monthStart = (months: number) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1);
  const dayMs = 24 * 60 * 60 * 1_000;
  if (period === 'before') return { from: dayOf(monthStart(-1)), to: dayOf(monthStart(0) - dayMs) };
  return { from: dayOf(period === 'month' ? monthStart(0) : now.getTime() - 89 * dayMs), to: dayOf(now.getTime()) };
}
