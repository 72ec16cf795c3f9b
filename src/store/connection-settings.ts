const pageCost = 'random_page_cost = 1.1';

/**
 * Settings that every connection begins with. Prisma writes times without a zone: they mean UTC only if the
 * connection's time zone is UTC. A random page costs nearly the same as the next one on today's disks. With the default
 * setting, PostgreSQL reads a table of a few hundred rows completely for one of them, with all dead rows until the next
 * vacuum.
 */
export const connectionSettings = `set time zone 'UTC'; set ${pageCost}`;

/** Sizes and timeouts of the connections to a PostgreSQL server. */
export interface ConnectionLimits {
  /** Connections of one process, in addition to one that listens and two for heartbeats. */
  readonly poolSize: number;
  /** Time that a caller waits for a connection. */
  readonly connectMs: number;
  /** Time limit of a statement. The server cancels it; if no response arrives either, the connection is closed. */
  readonly statementMs: number;
  /** Time that an idle connection is kept. */
  readonly idleMs: number;
  /** Time after which the server ends an idle transaction. */
  readonly idleInTransactionMs: number;
}

/** The default limits. */
export const defaultConnectionLimits: ConnectionLimits = {
  poolSize: 10,
  connectMs: 10_000,
  statementMs: 30_000,
  idleMs: 60_000,
  idleInTransactionMs: 60_000,
};

/** Returns {@link connectionSettings} with the timeouts that the server enforces. */
export function settingsWithTimeouts({ statementMs, idleInTransactionMs }: ConnectionLimits): string {
  return `${connectionSettings}; set statement_timeout = ${statementMs}; set idle_in_transaction_session_timeout = ${idleInTransactionMs}`;
}

/**
 * Returns the statements that begin a transaction behind a pooler in transaction mode: there a transaction may run on a server
 * connection that has never received {@link settingsWithTimeouts}. Only the time zone is known to poolers, which carry it over.
 */
export function beginWithSettings({ statementMs, idleInTransactionMs }: ConnectionLimits): string {
  return `begin; set local ${pageCost}; set local statement_timeout = ${statementMs}; set local idle_in_transaction_session_timeout = ${idleInTransactionMs}`;
}
