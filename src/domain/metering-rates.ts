import type { Row } from '../store/tables.ts';

/** The fields of {@link Measured}. */
export const measuredFields = [
  'activeMs',
  'llmCalls',
  'inputTokens',
  'outputTokens',
  'cachedTokens',
  'costUsd',
] as const satisfies readonly (keyof Row<'Usage'>)[];

/**
 * The quantities that ACUs are computed from. Time runs from a prompt to its end, without the time that the agent
 * waited for the user.
 */
export type Measured = Pick<Row<'Usage'>, (typeof measuredFields)[number]>;

/** The definition of an ACU, and the metering interval. From the configuration. */
export interface MeteringRates {
  /** Minutes of an agent's activity per ACU. */
  readonly minutesPerAcu: number;
  /** ACUs per dollar of a model's cost; 0: cost does not count. */
  readonly acusPerUsd: number;
  /** Interval at which usage is written and compared with the limits. */
  readonly everyMs: number;
}

/** ACUs, to a millionth. */
export function acusOf({ activeMs, costUsd }: Measured, { minutesPerAcu, acusPerUsd }: MeteringRates): number {
  return Math.round((activeMs / 60_000 / minutesPerAcu + costUsd * acusPerUsd) * 1_000_000) / 1_000_000;
}
