/** Always the same samples. `PROPERTY_SEED` gives others. */
export const seed: number = Number(process.env.PROPERTY_SEED ?? 20_261_121);

/** How many times as many samples as by default: `PROPERTY_RUNS=10` searches for what the default runs do not find. */
export const factor: number = Number(process.env.PROPERTY_RUNS ?? 1);

/** Parameters of a property that holds for `count` samples. Each run takes other samples; fast-check names the seed of a failure. */
export const runs = (count: number): { numRuns: number } => ({ numRuns: Math.max(1, Math.round(count * factor)) });
