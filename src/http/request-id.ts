import { randomUUID } from 'node:crypto';

/** The header with the id of a request, in requests and in responses. */
export const requestIdHeader = 'x-request-id';

/** Characters that need no escaping in a header and in a log. */
const acceptable = /^[\w.:@/+=-]{1,128}$/;

/**
 * Returns the id of a request: the one that a client or a proxy has sent, if it has 1 to 128 characters of A–Z, a–z, 0–9 and
 * `_.:@/+=-`; otherwise a new UUID.
 */
export const requestIdOf = (sent: string | null): string =>
  sent !== null && acceptable.test(sent) ? sent : randomUUID();
