/**
 * What a connection is told before anything else. Prisma writes times without a zone: they mean UTC only where the connection
 * says so. A page anywhere costs next to what the next one does, as on every disk of today: otherwise a table of a few hundred
 * rows is read whole for one of them, and what messages leave behind in it until it is vacuumed is read each time.
 */
export const connectionSettings = `set time zone 'UTC'; set random_page_cost = 1.1`;

/** Sizes and timeouts of the connections to a PostgreSQL server. */
export interface ConnectionLimits {
  /** Connections of one process, beside one that listens and two for heartbeats. */
  readonly poolSize: number;
  /** How long a caller waits for a connection. */
  readonly connectMs: number;
  /** How long a statement may run. The server cancels it; if no answer comes either, the connection is given up. */
  readonly statementMs: number;
  /** How long a connection without work is kept. */
  readonly idleMs: number;
  /** How long the server keeps a transaction that sends nothing. */
  readonly idleInTransactionMs: number;
}

/** Limits where the operator sets none. */
export const defaultConnectionLimits: ConnectionLimits = {
  poolSize: 10,
  connectMs: 10_000,
  statementMs: 30_000,
  idleMs: 60_000,
  idleInTransactionMs: 60_000,
};

/** Returns {@link connectionSettings} with the timeouts that the server watches over. */
export function settingsWithTimeouts({ statementMs, idleInTransactionMs }: ConnectionLimits): string {
  return `${connectionSettings}; set statement_timeout = ${statementMs}; set idle_in_transaction_session_timeout = ${idleInTransactionMs}`;
}
