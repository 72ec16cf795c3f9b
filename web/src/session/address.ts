/** The path of a session's page, as in its `url`: with the unprefixed id. */
export const sessionAddress = (sessionId: string): string => `/sessions/${sessionId.replace(/^[a-z]+-/, '')}`;
