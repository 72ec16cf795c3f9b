/** The fixed seed of the samples; `PROPERTY_SEED` sets another. */
export const seed: number = Number(process.env.PROPERTY_SEED ?? 20_261_121);

/** Multiplies the number of samples: `PROPERTY_RUNS=10` searches for problems that the default runs do not find. */
export const factor: number = Number(process.env.PROPERTY_RUNS ?? 1);

/** Returns the parameters of a property for `count` samples. Each property takes other samples; fast-check reports a failure's seed. */
export const runs = (count: number): { numRuns: number } => ({ numRuns: Math.max(1, Math.round(count * factor)) });
