/** The sentence with which the git gateway ends a fetch that is too large. Git repeats it on the line of the remote. */
export const fetchTooLarge = (size: string): string => `The forge sends more than ${size}, the maximum for one fetch.`;

const repeated = new RegExp(`^remote: (${fetchTooLarge('[\\w ]+').replaceAll('.', '\\.')})`, 'm');

/** Returns the sentence of {@link fetchTooLarge} in the output of git; null: it is not there. */
export const findFetchTooLarge = (stderr: string): string | null => repeated.exec(stderr)?.[1] ?? null;
