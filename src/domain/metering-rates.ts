/**
 * The quantities that ACUs are computed from. Time runs from a prompt to its end, without the time that the agent
 * waited for the user.
 */
export interface Measured {
  readonly activeMs: number;
  readonly llmCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of the input tokens, those from the provider's cache. */
  readonly cachedTokens: number;
  readonly costUsd: number;
}

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
