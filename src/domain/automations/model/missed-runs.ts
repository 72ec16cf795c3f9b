/** Policies for occurrences that were missed because no process ran at the time. The first is the default. */
export const missedRunsPolicies = ['latest', 'skip', 'all'] as const;
/** See {@link missedRunsPolicies}. */
export type MissedRuns = (typeof missedRunsPolicies)[number];
