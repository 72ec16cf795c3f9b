/** What is done about times that were missed, because nothing ran then: the first is meant when nothing is said. */
export const missedRunsPolicies = ['latest', 'skip', 'all'] as const;
/** See {@link missedRunsPolicies}. */
export type MissedRuns = (typeof missedRunsPolicies)[number];
