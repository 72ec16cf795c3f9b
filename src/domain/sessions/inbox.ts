/** SQL condition: a `log_entry` aliased `e` is a user's message. */
export const isUsers = "e.message_type is not null and e.message_type <> 'agent_message'";

/**
 * SQL condition: {@link isUsers}, and the session's `run` aliased `r` has not delivered it to the agent. Withdrawn
 * messages are not meant.
 */
export const waiting = `${isUsers} and e.seq > r.delivered_seq and not e.seq = any(r.answered_seqs)`;
