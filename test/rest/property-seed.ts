/** Always the same requests. Another number, and more of them, are for the search for what these do not find. */
export const seed: number = Number(process.env.PROPERTY_SEED ?? 20_261_121);

/** How many times as many requests as usual. */
export const factor: number = Number(process.env.PROPERTY_RUNS ?? 1);
