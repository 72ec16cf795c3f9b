/** Statuses in which a session runs or waits to run: archiving suspends it. */
export const awake: ReadonlySet<string> = new Set(['NEW', 'CLAIMED', 'RUNNING', 'RESUMING']);
