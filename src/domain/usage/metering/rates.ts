import type { Measured } from './counter.ts';

/** What an ACU is, and how often it is looked at. From the configuration. */
export interface MeteringRates {
  /** Minutes of an agent's work that are one ACU. */
  readonly minutesPerAcu: number;
  /** ACUs for a dollar that a model has cost; 0: cost does not count. */
  readonly acusPerUsd: number;
  /** How often what is used is written down, and compared with the limits. */
  readonly everyMs: number;
}

/** ACUs, to a millionth. */
export function acusOf({ activeMs, costUsd }: Measured, { minutesPerAcu, acusPerUsd }: MeteringRates): number {
  return Math.round((activeMs / 60_000 / minutesPerAcu + costUsd * acusPerUsd) * 1_000_000) / 1_000_000;
}
