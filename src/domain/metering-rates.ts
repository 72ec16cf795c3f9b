/** What ACUs come from. Time is from a prompt to its end, without what the agent waited for the user. */
export interface Measured {
  readonly activeMs: number;
  readonly llmCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of the input tokens, those from the provider's cache. */
  readonly cachedTokens: number;
  readonly costUsd: number;
}

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
