/** The description of every argument and input member that takes the id of a session. */
export const sessionIdDescription = 'Global ID or REST id of the session.';
