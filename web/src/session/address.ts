/** The address of a session's page, as its `url` has it: with the bare id. */
export const sessionAddress = (sessionId: string): string => `/sessions/${sessionId.replace(/^[a-z]+-/, '')}`;
